within Saltus.Blocks;
block Hysteresis "One of two values; between the thresholds the one it had"
  parameter Real high = 1 "The output becomes positive when the input reaches this";
  parameter Real low = -high "The output becomes negative when the input falls to this";
  parameter Real y0 = 1 "Absolute value of the output";
  parameter Boolean startsHigh = false "Value between the thresholds at the start";
  extends SISO;
protected
  Boolean isHigh(start = startsHigh, fixed = true);
equation
  isHigh = u >= high or pre(isHigh) and u > low;
  y = if isHigh then y0 else -y0;
  annotation (Icon(graphics = {Line(points = {{-80, -50}, {40, -50}, {40, 50}, {80, 50}}, color = {0, 90, 160}), Line(points = {{40, 50}, {-40, 50}, {-40, -50}}, color = {0, 90, 160})}));
end Hysteresis;
