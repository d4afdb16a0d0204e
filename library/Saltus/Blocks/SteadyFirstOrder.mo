within Saltus.Blocks;
block SteadyFirstOrder "First order that starts at rest whatever its input is"
  parameter Units.Time T(start = 1) "Time constant";
  parameter Real k = 1 "Gain";
  extends SISO;
  Real x "State";
equation
  der(x) = (u - x)/T;
  y = k*x;
  when initial() then
    reinit(x, u);
  end when;
  annotation (Icon(graphics = {Line(points = {{-80, 20}, {0, 20}, {30, -20}, {80, -40}}, color = {0, 90, 160}, smooth = Smooth.Bezier)}));
end SteadyFirstOrder;
