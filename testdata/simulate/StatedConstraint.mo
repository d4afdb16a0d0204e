// A function gets a variable and its derivative and returns the one, with the other as its derivative. The equation is a constraint
// between two variables that are differentiated, although the derivative is among the arguments.
model StatedConstraint
  function state
    input Real x[2];
    input Real t;
    output Real y;
  algorithm
    y := x[1];
    annotation(derivative(noDerivative = x) = rate, InlineAfterIndexReduction = true);
  end state;
  function rate
    input Real x[2];
    input Real t;
    input Real der_t;
    output Real y;
  algorithm
    y := x[2];
  end rate;
  Real x(start = 1, fixed = true), u, f;
  Real rate_x = der(x);
equation
  der(x) = -x - f;
  u = state({x, rate_x}, time);
  f = 2*der(u);
end StatedConstraint;
// at t=1: u = 0.716531310573789 ± 1e-5 (3*der(x) = -x, x = exp(-t/3))
// at t=1: f = -0.477687540382526 ± 1e-5 (-2/3*exp(-1/3))
