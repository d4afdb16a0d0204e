// The derivative of an expression: what it consists of are the states, not the expression itself, which here says nothing
// about x any more once it has saturated.
model DerivativeOfExpression
  Real x(start = 0, fixed = true);
  Real b(start = 0, fixed = true);
  Real s = tanh(10*x);
equation
  der(b) = 1 - b;
  der(b) = 0.5*der(s - 2*x) + 2*der(x);
  annotation(experiment(StopTime = 5, Tolerance = 1e-8));
end DerivativeOfExpression;
// b = 1 - exp(-t); integrated: b = 0.5*tanh(10*x) + x
// at t=5: b = 0.993262053000915 ± 1e-6 (1 - exp(-5))
// at t=5: x = 0.493314 ± 1e-3 (root of 0.5*tanh(10*x) + x = b: x = b - 0.5 as far as tanh is 1)
