within Saltus.Mechanics.Translational;
model ElasticContact "Spring and damper that act while the flanges are close"
  parameter Units.Stiffness c(start = 1000) "Stiffness";
  parameter Units.Damping d = 0 "Damping";
  parameter Units.Length s0 = 0 "Distance at which the contact begins";
  extends TwoFlanges;
  Units.Velocity v_rel "Velocity of b less that of a";
  Boolean contact "The flanges touch";
equation
  v_rel = der(s_rel);
  contact = s_rel < s0;
  f = if contact then c*(s_rel - s0) + d*v_rel else 0;
  annotation (Icon(graphics = {Line(points = {{-60, 0}, {-45, 30}, {-15, -30}, {0, 0}}, color = {0, 127, 0}), Line(points = {{10, 40}, {10, -40}}, color = {0, 127, 0}), Line(points = {{30, 40}, {30, -40}}, color = {0, 127, 0})}));
end ElasticContact;
