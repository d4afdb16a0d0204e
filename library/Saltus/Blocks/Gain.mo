within Saltus.Blocks;
block Gain "Multiplies"
  parameter Real k(start = 1) "Factor";
  extends SISO;
equation
  y = k*u;
  annotation (Icon(graphics = {Polygon(points = {{-80, 70}, {80, 0}, {-80, -70}, {-80, 70}}, lineColor = {0, 0, 127}), Text(extent = {{-80, 30}, {30, -30}}, textString = "%k")}));
end Gain;
