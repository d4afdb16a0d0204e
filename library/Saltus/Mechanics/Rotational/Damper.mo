within Saltus.Mechanics.Rotational;
model Damper "Linear rotational damper"
  parameter Units.RotationalDamping d(start = 1) "Torque for each unit of angular velocity";
  extends TwoFlanges;
  Units.AngularVelocity w_rel "Angular velocity of b less that of a";
equation
  w_rel = der(phi_rel);
  tau = d*w_rel;
  annotation (Icon(graphics = {Rectangle(extent = {{-30, 25}, {40, -25}}, lineColor = {95, 95, 95}), Line(points = {{10, 25}, {10, -25}}, color = {95, 95, 95})}));
end Damper;
