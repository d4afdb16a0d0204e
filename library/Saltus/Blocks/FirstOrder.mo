within Saltus.Blocks;
block FirstOrder "Follows its input with a delay of first order"
  parameter Real k = 1 "Gain";
  parameter Units.Time T(start = 1) "Time constant";
  parameter Real y0 = 0 "Value at the start";
  extends SISO(y(start = y0, fixed = true));
equation
  T*der(y) = k*u - y;
  annotation (Icon(graphics = {Line(points = {{-80, -60}, {-50, 0}, {-20, 30}, {20, 45}, {80, 50}}, color = {0, 90, 160}, smooth = Smooth.Bezier)}));
end FirstOrder;
