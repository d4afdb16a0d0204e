// Start values may depend on parameters that the initial system finds: here they fix a state, and choose one of several solutions.
model StartFromFreeParameters
  parameter Real a(fixed = false);
  parameter Real b(fixed = false);
  Real c(start = a/b, fixed = true);
  Real w(start = a);
initial equation
  a = -4;
  b = 2*a + 2;
equation
  der(c) = 0;
  w^2 + c = 1 + c + 8*time;
end StartFromFreeParameters;
// at t=0: c = 0.6666666666666667 ± 1e-12 (closed form: -4/-6)
// at t=1: w = -3 ± 1e-9 (closed form: w^2 = 9, the root on the side of the start value)
