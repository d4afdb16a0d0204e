// A relation whose function jumps over zero at an event that also resets a state: nothing passes through a threshold.
model JumpOverThreshold
  Real y(start = 0, fixed = true);
  Real x(start = 0, fixed = true);
  Boolean fire = y > 0.5;
  Real s = if fire then 1 + y else -1 - y "Falls before, rises after";
  Boolean on = s > 0;
equation
  der(y) = 1;
  der(x) = if on then 2 else 1;
  when fire then
    reinit(x, 0);
  end when;
  annotation (experiment(StopTime = 1));
end JumpOverThreshold;
// at t=1: x = 1 ± 1e-9 (closed form: 2*(1 - 0.5))
// events: 0.5 (closed form)
