within Saltus.Mechanics.Rotational;
model Fixed "A shaft that does not turn"
  parameter Units.Angle phi0 = 0 "Angle";
  Flange flange annotation (Placement(transformation(extent = {{-10, -10}, {10, 10}})));
equation
  flange.phi = phi0;
  annotation (Icon(graphics = {Line(points = {{-80, -20}, {80, -20}}), Line(points = {{-60, -60}, {-20, -20}}), Line(points = {{0, -60}, {40, -20}})}));
end Fixed;
