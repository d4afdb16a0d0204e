within Saltus.Mechanics.Translational;
partial model TwoFlanges "A massless element between two flanges"
  Flange a "Left" annotation (Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
  Flange b "Right" annotation (Placement(transformation(extent = {{90, -10}, {110, 10}})));
  Units.Length s_rel "Position of b less that of a";
  Units.Force f "Force that the element puts on a, and against b";
  extends Icons.TwoPole;
equation
  s_rel = b.s - a.s;
  a.f = -f;
  b.f = f;
end TwoFlanges;
