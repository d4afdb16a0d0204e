within Saltus.Mechanics.Rotational;
model Inertia "A rotating body"
  parameter Units.Inertia J(start = 1) "Moment of inertia";
  Flange a annotation (Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
  Flange b annotation (Placement(transformation(extent = {{90, -10}, {110, 10}})));
  Units.Angle phi "Angle";
  Units.AngularVelocity w "Angular velocity";
equation
  phi = a.phi;
  phi = b.phi;
  w = der(phi);
  J*der(w) = a.tau + b.tau;
  annotation (Icon(graphics = {Rectangle(extent = {{-60, 60}, {60, -60}}, lineColor = {95, 95, 95}, fillColor = {220, 220, 220}, fillPattern = FillPattern.Solid), Text(extent = {{-100, 100}, {100, 65}}, textString = "%name")}));
end Inertia;
