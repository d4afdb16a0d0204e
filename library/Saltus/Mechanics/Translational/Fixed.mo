within Saltus.Mechanics.Translational;
model Fixed "A place that does not move"
  parameter Units.Length s0 = 0 "Position";
  Flange flange annotation (Placement(transformation(extent = {{-10, -10}, {10, 10}})));
equation
  flange.s = s0;
  annotation (Icon(graphics = {Line(points = {{-80, -20}, {80, -20}}, color = {0, 0, 0}), Line(points = {{-60, -60}, {-20, -20}}, color = {0, 0, 0}), Line(points = {{0, -60}, {40, -20}}, color = {0, 0, 0})}));
end Fixed;
