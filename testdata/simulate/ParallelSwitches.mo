// Two parallel switches in series with a coil: its current is zero when both are open.
model ParallelSwitches
  Real i(start = 0, fixed = true), u, i1, i2;
  Boolean a = time < 0.5, b = time < 1;
equation
  1 = i + der(i) + u;
  i = i1 + i2;
  0 = if a then u else i1;
  0 = if b then u - 1e-3*i2 else i2;
  annotation(experiment(StopTime = 2, Tolerance = 1e-9));
end ParallelSwitches;
// at t=0.75: i = 0.527530351416877 ± 1e-7 (closed form: 1 - exp(-t) up to 0.5, then towards 1/1.001)
// at t=1.5: i = 0 ± 1e-12 (open)
// at t=1.5: u = 1 ± 1e-12 (open)
