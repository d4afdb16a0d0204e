model StartOfMemory "A start value of an algebraic variable does not replace the value before the start"
  Real u = 1 - 2*time;
  Real s(start = 0), v, i;
  Boolean off(start = true);
  Boolean fire = time >= 0.25;
equation
  off = s < 0 or pre(off) and not fire;
  v = if off then s else 0;
  i = if off then 0 else s;
  u = v + 2*i;
  annotation(experiment(StopTime = 1));
end StartOfMemory;
// at t=0.125: i = 0 ± 0 (closed form: a thyristor that is not fired blocks)
// at t=0.125: v = 0.75 ± 1e-12 (closed form: it has the whole voltage)
// at t=0.375: i = 0.125 ± 1e-12 (closed form: it conducts, i = u/2)
// at t=0.75: i = 0 ± 0 (closed form: the current has vanished at 0.5)
