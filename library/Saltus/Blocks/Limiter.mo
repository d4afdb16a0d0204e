within Saltus.Blocks;
block Limiter "Passes its input between two limits"
  parameter Real high = 1 "Upper limit";
  parameter Real low = -high "Lower limit";
  extends SISO;
equation
  y = if u > high then high else if u < low then low else u;
  annotation (Icon(graphics = {Line(points = {{-80, -50}, {-40, -50}, {40, 50}, {80, 50}}, color = {0, 90, 160})}));
end Limiter;
