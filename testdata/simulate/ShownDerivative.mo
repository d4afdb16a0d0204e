// The derivative of a variable that is differentiated without being a state is among the results.
model ShownDerivative
  Real x = sin(time);
  Real y(start = 0, fixed = true);
equation
  der(y) = der(x);
end ShownDerivative;
// at t=1: der(x) = 0.5403023058681398 ± 1e-9 (closed form: cos(1))
