within Saltus.Mechanics.Pendulums;
model PinnedPendulum "A pendulum whose string meets a pin"
  parameter Units.Mass m = 1.02 "Mass";
  parameter Units.Length l = 1 "Length of the string";
  parameter Units.Length lp = 0.7 "Distance of the pin from the suspension";
  parameter Units.Angle phip = -Units.pi/12 "Angle at which the string meets the pin; not zero";
  parameter Units.Damping d = 0.2 "Damping of the motion of the mass";
  parameter Units.Acceleration g = Units.g_n "Acceleration of gravity";
  parameter Boolean linear = false "Small angles: sin(phi) is replaced by phi";
  parameter Units.Angle phi0 = Units.pi/6 "Angle at the start";
  parameter Units.AngularVelocity w0 = 0 "Angular velocity at the start";
  Units.Angle phi(start = phi0, fixed = true) "Angle";
  Units.AngularVelocity w(start = w0, fixed = true) "Angular velocity";
  Boolean short "The string lies at the pin";
  Units.Length length "Of the part of the string that swings";
equation
  short = (phi - phip)*phip >= 0;
  length = if short then l - lp else l;
  der(phi) = w;
  der(w) = -g/length*(if linear then phi else sin(phi)) - d/m*w;
  // The velocity of the mass does not jump, so its angular velocity does.
  when short then
    reinit(w, pre(w)*l/(l - lp));
  elsewhen not short then
    reinit(w, pre(w)*(l - lp)/l);
  end when;
  annotation (Icon(graphics = {Line(points = {{0, 80}, {-20, 0}, {-60, -30}}), Ellipse(extent = {{-75, -15}, {-45, -45}}, fillColor = {0, 90, 160}, fillPattern = FillPattern.Solid), Ellipse(extent = {{-30, 5}, {-20, -5}}, fillColor = {0, 0, 0}, fillPattern = FillPattern.Solid)}));
end PinnedPendulum;
