within Saltus.Blocks;
block FirstOrderReset "First order, with a state that can be set to zero"
  parameter Units.Time T(start = 1) "Time constant";
  parameter Real k = 1 "Gain";
  extends SISO;
  BooleanInput reset "The state becomes zero when this becomes true" annotation (Placement(transformation(extent = {{-140, -100}, {-100, -60}})));
  Real x(start = 0, fixed = true) "State";
equation
  der(x) = (u - x)/T;
  y = k*x;
  when reset then
    reinit(x, 0);
  end when;
  annotation (Icon(graphics = {Line(points = {{-80, -60}, {-40, 10}, {0, 40}, {0, -60}, {40, 10}, {80, 40}}, color = {0, 90, 160})}));
end FirstOrderReset;
