// An ideal switch joins capacitors of 1 and 3 F at 4 and 0 V: the charge of 4 As spreads, 1 V on both.
model JoinsCapacitors
  Real v1(start = 4, fixed = true), v2(start = 0, fixed = true), i, u;
  Boolean closed = time >= 0.5;
equation
  1*der(v1) = -i;
  3*der(v2) = i;
  u = v1 - v2;
  0 = if closed then u else i;
  annotation(experiment(StopTime = 1));
end JoinsCapacitors;
// at t=0.4: v1 = 4 ± 1e-12 (closed form)
// at t=1: v1 = 1 ± 1e-12 (charge)
// at t=1: v2 = 1 ± 1e-12 (charge)
