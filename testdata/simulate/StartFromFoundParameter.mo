// The guess of a parameter that a start value waits for is not used beside its value.
model StartFromFoundParameter
  parameter Real t0(fixed = false, start = 0.1);
  Real x(start = t0, fixed = true);
initial equation
  t0 = 0.2;
equation
  der(x) = 1;
end StartFromFoundParameter;
// at t=1: x = 1.2 ± 1e-9 (closed form: t0 + t)
