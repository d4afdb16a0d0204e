within Saltus.Mechanics.Rotational;
model Spring "Linear torsion spring"
  parameter Units.RotationalStiffness c(start = 1) "Stiffness";
  parameter Units.Angle phi0 = 0 "Angle without torque";
  extends TwoFlanges;
equation
  tau = c*(phi_rel - phi0);
  annotation (Icon(graphics = {Line(points = {{-60, 0}, {-45, 30}, {-15, -30}, {15, 30}, {45, -30}, {60, 0}}, color = {95, 95, 95})}));
end Spring;
