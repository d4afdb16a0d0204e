model DerivativeWithout "A derivative function that does without the derivative of an argument which has none"
  function root "Square root by iteration: no derivative, and too long to be written out"
    input Real x;
    output Real y;
  protected
    Real last;
  algorithm
    y := x;
    last := 0;
    while abs(y - last) > 1e-15*abs(y) loop
      last := y;
      y := 0.5*(y + x/y);
    end while;
  end root;

  function rootOf "The root, given the root"
    input Real x;
    input Real known;
    output Real y;
  algorithm
    y := known;
    annotation(derivative(noDerivative = known) = rootOf_der);
  end rootOf;

  function rootOf_der
    input Real x;
    input Real known;
    input Real x_der;
    output Real y_der;
  algorithm
    y_der := x_der/(2*known);
  end rootOf_der;

  Real x(start = 1, fixed = true);
  Real y;
  Real s;
equation
  der(x) = 2*time + 2;
  y = rootOf(x, root(x));
  s = der(y);
end DerivativeWithout;
// at t=1: y = 2 ± 1e-6 (x = (1 + t)^2)
// at t=1: s = 1 ± 1e-6 (y = 1 + t)
