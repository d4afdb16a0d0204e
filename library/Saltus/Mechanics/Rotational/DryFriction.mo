within Saltus.Mechanics.Rotational;
partial model DryFriction "Dry friction whose strength may vary; may vanish"
  extends TwoFlanges;
  Units.AngularVelocity w_rel "Angular velocity of b less that of a";
  Units.AngularAcceleration a_rel "Its derivative";
  Units.Torque tau0 "Torque while it slides; never negative";
  parameter Real peak(min = 1) = 1 "Torque to break loose, divided by tau0";
  Real s "Parameter of the curve: torque while locked, acceleration beyond it while it begins to slide";
  Integer mode(start = Locked, fixed = true, min = Backward, max = Forward) "Forwards, locked or backwards";
  Boolean startForward "Begins to slide forwards";
  Boolean startBackward "Begins to slide backwards";
  Boolean locked "Does not slide";
  constant Integer Forward = 1;
  constant Integer Locked = 0;
  constant Integer Backward = -1;
protected
  constant Units.AngularAcceleration unitAcceleration = 1;
  constant Units.Torque unitTorque = 1;
equation
  w_rel = der(phi_rel);
  a_rel = der(w_rel);
  // While it does not slide, s is the torque as far as tau0 allows; what is beyond accelerates.
  startForward = pre(mode) == Locked and (s > peak*tau0/unitTorque or pre(startForward) and s > tau0/unitTorque);
  startBackward = pre(mode) == Locked and (s < -peak*tau0/unitTorque or pre(startBackward) and s < -tau0/unitTorque);
  locked = pre(mode) == Locked and not (startForward or startBackward);
  a_rel = if locked then 0 else if startForward then unitAcceleration*(s - (if pre(startForward) then 1 else peak)*tau0/unitTorque) else if startBackward then unitAcceleration*(s + (if pre(startBackward) then 1 else peak)*tau0/unitTorque) else unitAcceleration*s;
  tau = if locked then unitTorque*s else if startForward or pre(mode) == Forward then tau0 else -tau0;
  mode = if (pre(mode) == Forward or startForward) and w_rel > 0 then Forward else if (pre(mode) == Backward or startBackward) and w_rel < 0 then Backward else Locked;
end DryFriction;
