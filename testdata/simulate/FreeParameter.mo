// The initial system finds a parameter that occurs only inside nonlinear terms.
model FreeParameter
  parameter Real a(start = 0.5, fixed = false) "found: a + exp(a) = 1 + exp(1)";
  Real x(start = 0, fixed = true);
equation
  der(x) = a;
initial equation
  a + exp(a) = 3.718281828459045;
  annotation (experiment(StopTime = 1));
end FreeParameter;
// at t=1: x = 1 ± 1e-6 (closed form: a = 1)
