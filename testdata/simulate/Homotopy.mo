// From its start value the actual equation is out of reach of Newton's method; the simplified one leads there.
model Homotopy
  Real x(start = 10);
  Real y(start = 1, fixed = true);
equation
  // atan flattens out: from 10 each Newton step goes further away; the solution is 1
  0 = homotopy(actual = atan(x - 1), simplified = x - 1);
  der(y) = -y*x;
  annotation(experiment(StopTime = 1));
end Homotopy;
// at t=0: x = 1 ± 1e-9 (atan(0) = 0)
// at t=1: y = 0.367879441171442 ± 1e-5 (exp(-1))
