within Saltus.Mechanics.Rotational;
block JointFriction "Dry friction as a function of velocity and acceleration, as a finite automaton"
  parameter Units.Torque tau0(min = 1e-12, start = 1) "Friction while it turns slowly";
  parameter Units.RotationalDamping tau1(min = 0) = 0 "Additional friction for each unit of velocity";
  parameter Real peak(min = 1) = 1 "Torque to break loose, divided by tau0";
  connector VelocityInput = input Units.AngularVelocity;
  connector AccelerationInput = input Units.AngularAcceleration;
  VelocityInput w "Velocity of the joint";
  AccelerationInput a "Its derivative";
  Units.Torque tau "Friction";
  Real s "Parameter of the curve: torque while stuck, acceleration beyond it while it begins to turn";
  Integer mode(start = 0, fixed = true, min = -2, max = 2) "Turns forwards (2), begins to (1), stuck (0), the same backwards (-1, -2)";
protected
  constant Units.AngularAcceleration unitAcceleration = 1;
equation
  // The structure is that of the mode before, so each round of an event solves one linear system.
  tau = if pre(mode) == 2 then tau0 + tau1*w else if pre(mode) == -2 then -tau0 + tau1*w else if pre(mode) == 1 then tau0 else if pre(mode) == -1 then -tau0 else tau0*s;
  a = if pre(mode) == 0 then 0 else if pre(mode) > 0 then unitAcceleration*(s - 1) else unitAcceleration*(s + 1);
  mode = if pre(mode) == 0 then (if s > peak then 1 else if s < -peak then -1 else 0) else if pre(mode) == 1 then (if w > 0 then 2 else if s <= 1 then 0 else 1) else if pre(mode) == -1 then (if w < 0 then -2 else if s >= -1 then 0 else -1) else if pre(mode) == 2 then (if w > 0 then 2 else 0) else if w < 0 then -2 else 0;
  annotation (Icon(graphics = {Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {95, 95, 95}), Ellipse(extent = {{-20, 20}, {20, -20}}, lineColor = {95, 95, 95})}));
end JointFriction;
