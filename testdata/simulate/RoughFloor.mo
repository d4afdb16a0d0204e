// A block that sticks to a rough floor with a speed of −2e-16 instead of 0, and is pulled forward. As it breaks loose at
// pull = fc, `v > 0` is false by rounding only: taken literally friction would push it forward, and no value of `locked`
// agrees with that. With the other value of `v > 0` it starts to move.
model RoughFloor
  parameter Real m = 2;
  parameter Real fc = 4;
  Real v(start = -2e-16, fixed = true);
  Real s "force while locked, acceleration beyond sliding friction otherwise";
  Real f, pull;
  Boolean locked(start = true, fixed = true);
equation
  pull = 2*time;
  m*der(v) = pull - f;
  f = if locked then s else if v > 0 then fc else -fc;
  der(v) = if locked then 0 else if v > 0 then s - fc else s + fc;
  locked = pre(locked) and not (s > fc or s < -fc);
  annotation(experiment(StopTime = 4));
end RoughFloor;
// at t=2: v = 0 ± 1e-12 (closed form)
// at t=4: v = 2 ± 1e-9 (closed form: (t - 2)^2/2)
