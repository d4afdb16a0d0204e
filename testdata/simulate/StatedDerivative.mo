// A function whose derivative only its annotation knows: the body does not read what the derivative is taken by.
model StatedDerivative
  function position
    input Real q[3];
    input Real t;
    output Real s;
  algorithm
    s := q[1];
    annotation(derivative(noDerivative = q) = velocity, InlineAfterIndexReduction = true);
  end position;
  function velocity
    input Real q[3];
    input Real t;
    input Real der_t;
    output Real v;
  algorithm
    v := q[2];
    annotation(derivative(noDerivative = q, order = 2) = acceleration, InlineAfterIndexReduction = true);
  end velocity;
  function acceleration
    input Real q[3];
    input Real t;
    input Real der_t;
    input Real der_2_t;
    output Real a;
  algorithm
    a := q[3];
  end acceleration;
  parameter Real m = 2;
  Real q[3] = {3, 0.5, 1};
  Real s, v, f;
equation
  s = position(q, time);
  v = der(s);
  m*der(v) = f;
end StatedDerivative;
// at t=1: s = 3 ± 0 (position is what q[1] says)
// at t=1: v = 0.5 ± 0 (der(s) is what velocity says)
// at t=1: f = 2 ± 0 (m times what acceleration says)
