within Saltus.Blocks;
block ResetIntegrator "Integral that starts again when a signal becomes true"
  parameter Real k(unit = "1/s") = 1 "Gain";
  parameter Real y0 = 0 "Value at the start and after a reset";
  extends SISO(y(start = y0, fixed = true));
  BooleanInput reset annotation (Placement(transformation(extent = {{-140, -100}, {-100, -60}})));
equation
  der(y) = k*u;
  when reset then
    reinit(y, y0);
  end when;
  annotation (Icon(graphics = {Line(points = {{-80, -60}, {-20, 40}, {-20, -60}, {40, 40}, {40, -60}, {80, 0}}, color = {0, 90, 160})}));
end ResetIntegrator;
