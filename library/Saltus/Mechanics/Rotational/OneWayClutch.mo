within Saltus.Mechanics.Rotational;
model OneWayClutch "Lets b turn faster than a, never slower"
  extends TwoFlanges;
  Units.AngularVelocity w_rel "Angular velocity of b less that of a";
  Units.AngularAcceleration a_rel "Its derivative";
  Real s "Parameter of the curve: acceleration while free, torque against sliding back while locked";
  Boolean free(start = false, fixed = true) "b runs ahead";
  Boolean locked "Both turn together";
protected
  constant Units.AngularAcceleration unitAcceleration = 1;
  constant Units.Torque unitTorque = 1;
equation
  w_rel = der(phi_rel);
  a_rel = der(w_rel);
  locked = not pre(free) and s <= 0;
  a_rel = if locked then 0 else unitAcceleration*s;
  tau = if locked then unitTorque*s else 0;
  free = not locked and w_rel > 0;
  annotation (Icon(graphics = {Line(points = {{-10, 60}, {-10, -60}}, color = {95, 95, 95}, thickness = 1), Polygon(points = {{10, 40}, {40, 0}, {10, -40}, {10, 40}}, lineColor = {95, 95, 95})}));
end OneWayClutch;
