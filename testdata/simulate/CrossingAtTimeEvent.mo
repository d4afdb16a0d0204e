// x reaches its limit in the instant in which the limit is raised, or by a rounding error before it: nothing is crossed.
model CrossingAtTimeEvent
  Real x(start = 3e-15, fixed = true);
  Real limit = if time < 1 then 1 else 3;
  Integer n(start = 0, fixed = true);
equation
  der(x) = 1;
  when x > limit then
    n = pre(n) + 1;
  end when;
  annotation(experiment(StopTime = 4));
end CrossingAtTimeEvent;
// at t=2: n = 0 ± 0 (x = 2 is below 3)
// at t=4: n = 1 ± 0 (x = 4 is above 3)
