within Saltus.Mechanics.Rotational;
partial model TwoFlanges "An element without inertia between two flanges"
  Flange a "Left" annotation (Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
  Flange b "Right" annotation (Placement(transformation(extent = {{90, -10}, {110, 10}})));
  Units.Angle phi_rel "Angle of b less that of a";
  Units.Torque tau "Torque that the element puts on a, and against b";
  extends Icons.TwoPole;
equation
  phi_rel = b.phi - a.phi;
  a.tau = -tau;
  b.tau = tau;
end TwoFlanges;
