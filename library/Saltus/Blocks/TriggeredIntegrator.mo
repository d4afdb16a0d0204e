within Saltus.Blocks;
block TriggeredIntegrator "Adds its input each time a signal becomes true"
  parameter Real y0 = 0 "Sum at the start";
  extends SISO(y(start = y0, fixed = true));
  BooleanInput trigger annotation (Placement(transformation(extent = {{-140, -100}, {-100, -60}})));
equation
  when trigger then
    y = pre(y) + u;
  end when;
  annotation (Icon(graphics = {Line(points = {{-80, -60}, {-40, -60}, {-40, -20}, {0, -20}, {0, 20}, {40, 20}, {40, 60}, {80, 60}}, color = {0, 90, 160})}));
end TriggeredIntegrator;
