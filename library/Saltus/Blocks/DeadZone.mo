within Saltus.Blocks;
block DeadZone "Zero for small inputs"
  parameter Real high = 1 "End of the zone";
  parameter Real low = -high "Begin of the zone";
  extends SISO;
equation
  y = if u > high then u - high else if u < low then u - low else 0;
  annotation (Icon(graphics = {Line(points = {{-80, -60}, {-30, 0}, {30, 0}, {80, 60}}, color = {0, 90, 160})}));
end DeadZone;
