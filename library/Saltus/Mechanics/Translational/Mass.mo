within Saltus.Mechanics.Translational;
model Mass "A body that slides"
  parameter Units.Mass m(start = 1) "Mass";
  Flange flange annotation (Placement(transformation(extent = {{-10, -10}, {10, 10}})));
  Units.Length s "Position";
  Units.Velocity v "Velocity";
  Units.Acceleration a "Acceleration";
equation
  s = flange.s;
  v = der(s);
  a = der(v);
  m*a = flange.f;
  annotation (Icon(graphics = {Rectangle(extent = {{-70, 40}, {70, -40}}, lineColor = {0, 90, 0}, fillColor = {180, 220, 180}, fillPattern = FillPattern.Solid), Text(extent = {{-100, 80}, {100, 45}}, textString = "%name")}));
end Mass;
