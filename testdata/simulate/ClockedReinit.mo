// `reinit` in a clocked partition that is discretized: the next step begins with the new value.
model ClockedReinit
  Real u, x(start = 0, fixed = true), y(start = 1, fixed = true), z(start = 0, fixed = true);
equation
  u = sample(1.0, Clock(Clock(1, 10), "ImplicitEuler"));
  der(x) = u;
  der(y) = -u*y;
  der(z) = 2*u;
  when z > 0.5 then
    reinit(z, 0) "A constant belongs to no partition by itself.";
  end when;
  when x > 0.25 then
    reinit(x, -0.5);
    reinit(y, 2*y);
  end when;
  annotation (experiment(StopTime = 0.55));
end ClockedReinit;
// at t=0.35: x = 0.3 ± 1e-12 (three steps of 0.1; the condition becomes true at this tick)
// at t=0.45: x = -0.4 ± 1e-12 (-0.5 + 0.1)
// at t=0.55: x = -0.3 ± 1e-12 (-0.5 + 0.2)
// at t=0.35: y = 0.7513148009015775 ± 1e-12 (1.1^-3)
// at t=0.55: y = 1.2418426461183101 ± 1e-12 (2*1.1^-5)
// at t=0.35: z = 0.6 ± 1e-12 (three steps of 0.2; the condition becomes true at this tick)
// at t=0.55: z = 0.4 ± 1e-12 (two steps of 0.2 from 0)
