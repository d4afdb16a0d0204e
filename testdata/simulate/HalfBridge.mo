// A half bridge with dead time: the current of the load goes from the upper switch to the lower diode, and on while the lower switch closes in
// parallel to it. How switch and diode would share the current no equation says: the diode blocks at its threshold.
model HalfBridge
  Real i(start = 0, fixed = true), i1, i2, u, j1, s1, j2, s2;
  Boolean upper = time < 0.3, lower = time > 0.4;
  Boolean off1 = s1 < 0, off2 = s2 < 0;
equation
  0.1*der(i) = u - i;
  i = i1 - j1 - i2 + j2;
  0 = if upper then u - 1 else i1;
  0 = if lower then u else i2;
  u - 1 = if off1 then s1 else 0;
  j1 = if off1 then 0 else s1;
  -u = if off2 then s2 else 0;
  j2 = if off2 then 0 else s2;
  annotation(experiment(StopTime = 1, Tolerance = 1e-9));
end HalfBridge;
// at t=0.3: i = 0.950212931632136 ± 1e-7 (closed form: 1 - exp(-3))
// at t=0.39: i = 0.3863277482947947 ± 1e-7 (closed form: decays with 0.1 s)
// at t=1: i = 0.0008664820357920314 ± 1e-8 (closed form)
