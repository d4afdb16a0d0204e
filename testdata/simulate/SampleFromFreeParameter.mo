// A sample starts where the initial system says: t0 has fixed = false and is known only then.
model SampleFromFreeParameter
  parameter Real t0(fixed = false);
  Integer n(start = 0, fixed = true);
initial algorithm
  t0 := integer(time) + 0.5;
equation
  when sample(t0, 2) then
    n = pre(n) + 1;
  end when;
  annotation(experiment(StartTime = 9, StopTime = 14));
end SampleFromFreeParameter;
// at t=9.4: n = 0 ± 0 (before the first tick)
// at t=10: n = 1 ± 0 (ticks at 9.5, 11.5, 13.5)
// at t=14: n = 3 ± 0 (the third tick is past)
