within Saltus.Blocks;
block TwoPoint "One of two values, by the sign of the input"
  parameter Real y0 = 1 "Absolute value of the output";
  extends SISO;
equation
  y = if u > 0 then y0 else -y0;
  annotation (Icon(graphics = {Line(points = {{-80, -50}, {0, -50}, {0, 50}, {80, 50}}, color = {0, 90, 160})}));
end TwoPoint;
