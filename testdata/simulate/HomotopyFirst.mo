// Both equations have several solutions. From the start values Newton's method finds 0; the simplified equations lead to those
// that are meant.
model HomotopyFirst
  Real x(start = 0);
  Real v(start = 0);
equation
  0 = homotopy(actual = sin(x)*(x - 100), simplified = x - 100);
  // A comparator with positive feedback: -15, 0 and 15 V are solutions.
  v = homotopy(actual = max(-15, min(15, 1000*v)), simplified = -15);
end HomotopyFirst;
// at t=0: x = 100 ± 1e-9 (simplified: x - 100 = 0)
// at t=0: v = -15 ± 1e-9 (simplified: v = -15)
// at t=1: x = 100 ± 1e-9 (simplified: x - 100 = 0)
// at t=1: v = -15 ± 1e-9 (simplified: v = -15)
