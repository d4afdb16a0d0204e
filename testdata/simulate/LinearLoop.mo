// Two equations that must be solved together.
model LinearLoop
  Real x, y;
equation
  x + y = time;
  x - 2*y = 1;
  annotation (experiment(StopTime = 2));
end LinearLoop;
// at t=2: x = 1.6666666666666667 ± 1e-9 (closed form: (2*t + 1)/3)
// at t=2: y = 0.3333333333333333 ± 1e-9 (closed form: (t - 1)/3)
