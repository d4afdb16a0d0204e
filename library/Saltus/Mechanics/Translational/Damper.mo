within Saltus.Mechanics.Translational;
model Damper "Linear damper"
  parameter Units.Damping d(start = 1) "Force for each unit of velocity";
  extends TwoFlanges;
  Units.Velocity v_rel "Velocity of b less that of a";
equation
  v_rel = der(s_rel);
  f = d*v_rel;
  annotation (Icon(graphics = {Rectangle(extent = {{-30, 25}, {40, -25}}, lineColor = {0, 127, 0}), Line(points = {{-60, 0}, {10, 0}}, color = {0, 127, 0}), Line(points = {{10, 25}, {10, -25}}, color = {0, 127, 0}), Line(points = {{40, 0}, {60, 0}}, color = {0, 127, 0})}));
end Damper;
