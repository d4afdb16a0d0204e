// A start value that depends on a parameter which a nonlinear initial equation finds decides about the root.
model StartFromLoop
  parameter Real p(fixed = false, start = 0.1);
  Real y(start = p);
  Real q = p;
initial equation
  p^3 + p = -10;
equation
  y^2 = 4 + 0*time;
end StartFromLoop;
// at t=1: q = -2 ± 1e-9 (closed form: p³ + p = -10 has the real root -2; the root of y² = 4 next to it)
// at t=1: y = -2 ± 1e-9 (closed form: p³ + p = -10 has the real root -2; the root of y² = 4 next to it)
