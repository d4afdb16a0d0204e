// Two diodes against each other across a capacitor: one of them always takes the current, the voltage stays zero. The other one is at
// its threshold all the time, where both of its positions agree with the equations.
model DiodesAgainstEachOther
  Real u(start = 0, fixed = true), i1, i2, s1, s2;
  Boolean off1 = s1 < 0, off2 = s2 < 0;
equation
  der(u) = cos(time) - i1 + i2;
  u = if off1 then s1 else 0;
  i1 = if off1 then 0 else s1;
  -u = if off2 then s2 else 0;
  i2 = if off2 then 0 else s2;
  annotation(experiment(StopTime = 4, Tolerance = 1e-8));
end DiodesAgainstEachOther;
// at t=1: i1 = 0.5403023058681398 ± 1e-9 (closed form: cos)
// at t=1: i2 = 0 ± 1e-9 (closed form)
// at t=3: i2 = 0.9899924966004454 ± 1e-9 (closed form: -cos)
// at t=3: u = 0 ± 1e-9 (closed form)
