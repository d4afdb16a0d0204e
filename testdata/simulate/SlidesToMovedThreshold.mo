model SlidesToMovedThreshold "An event moves the threshold along which the model slides; the state follows at its own speed"
  Real x(start = 1, fixed = true);
  Real y(start = 1, fixed = true);
  discrete Real r(start = 0, fixed = true);
equation
  der(x) = if x > r then -1 else 1;
  der(y) = if y > 0 then -1 else 1;
  when time >= 2 then
    r = 1;
  end when;
  annotation(experiment(StopTime = 4));
end SlidesToMovedThreshold;
// at t=1.5: x = 0 ± 1e-6 (on the threshold since t = 1)
// at t=2.5: x = 0.5 ± 1e-5 (closed form: t - 2)
// at t=3.5: x = 1 ± 1e-5 (on the new threshold since t = 3)
// at t=3.5: y = 0 ± 1e-6 (the event does not concern it)
