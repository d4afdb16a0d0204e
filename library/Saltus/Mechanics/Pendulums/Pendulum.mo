within Saltus.Mechanics.Pendulums;
model Pendulum "A point mass on a rod"
  parameter Units.Mass m = 1 "Mass";
  parameter Units.Length l = 1 "Length";
  parameter Units.Damping d = 0 "Damping of the motion of the mass";
  parameter Units.Acceleration g = Units.g_n "Acceleration of gravity";
  parameter Boolean linear = false "Small angles: sin(phi) is replaced by phi";
  Units.Angle phi "Angle";
  Units.AngularVelocity w "Angular velocity";
equation
  w = der(phi);
  m*l*der(w) = -m*g*(if linear then phi else sin(phi)) - d*l*w;
  annotation (Icon(graphics = {Line(points = {{0, 80}, {50, -40}}), Ellipse(extent = {{35, -25}, {65, -55}}, fillColor = {0, 90, 160}, fillPattern = FillPattern.Solid)}));
end Pendulum;
