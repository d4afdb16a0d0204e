// The start value of a parameter with `fixed = false` tells which solution is meant, also where it depends on a parameter.
model StartOfFreeParameter
  parameter Real T0 = 5;
  parameter Real a(fixed = false, start = -T0);
  Real x = a*time;
initial equation
  a^2 = 25;
end StartOfFreeParameter;
// at t=1: x = -5 ± 1e-9 (closed form: the root next to -5)
