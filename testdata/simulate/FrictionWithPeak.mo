// A law with hysteresis that has no solution in one step: a disc of inertia 2 sticks up to a torque of 1.01 and slides with
// a friction of 1. As it breaks loose its `s` falls to 1 + 0.01/2, below 1.01: neither value of `s > 1.01` agrees with the
// equations until `pre(slides)` follows in the next round of the event.
model FrictionWithPeak
  Real w(start = 0, fixed = true);
  Real s "torque while it sticks, acceleration beyond sliding friction otherwise";
  Real friction;
  Boolean slides(start = false, fixed = true);
equation
  2*der(w) = time - friction;
  friction = if slides then 1 else s;
  der(w) = if slides then s - 1 else 0;
  slides = s > 1.01 or pre(slides) and s > 1;
  annotation(experiment(StopTime = 3));
end FrictionWithPeak;
// at t=1: w = 0 ± 1e-12 (closed form)
// at t=3: w = 0.999975 ± 1e-9 (closed form: the integral of (t - 1)/2 from 1.01 on)
// at t=3: s = 2 ± 1e-9 (closed form: 1 + (t - 1)/2)
