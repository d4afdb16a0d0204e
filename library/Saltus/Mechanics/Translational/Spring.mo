within Saltus.Mechanics.Translational;
model Spring "Linear spring"
  parameter Units.Stiffness c(start = 1) "Stiffness";
  parameter Units.Length s0 = 0 "Distance of the flanges without force";
  extends TwoFlanges;
equation
  f = c*(s_rel - s0);
  annotation (Icon(graphics = {Line(points = {{-60, 0}, {-45, 30}, {-15, -30}, {15, 30}, {45, -30}, {60, 0}}, color = {0, 127, 0})}));
end Spring;
