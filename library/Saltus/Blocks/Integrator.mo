within Saltus.Blocks;
block Integrator "Integral of the input"
  parameter Real k(unit = "1/s") = 1 "Gain";
  parameter Real y0 = 0 "Value at the start";
  extends SISO(y(start = y0, fixed = true));
equation
  der(y) = k*u;
  annotation (Icon(graphics = {Line(points = {{-80, -60}, {70, 60}}, color = {0, 90, 160})}));
end Integrator;
