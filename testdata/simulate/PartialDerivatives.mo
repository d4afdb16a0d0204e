// `der(f, x)`: partial derivatives of functions, of higher order, through records, calls, recursion and several results.
package PartialDerivatives
  record Pair
    Real a;
    Real b;
    Integer n;
  end Pair;

  function f
    input Real x;
    input Real y;
    input Integer n = 2;
    output Real z;
  protected
    Real w = x*y;
  algorithm
    z := w^n + sin(x);
    for i in 1:3 loop
      z := z + x*i;
    end for;
  end f;
  function f_x = der(f, x) "∂f/∂x";
  function f_xx = der(f, x, x);
  function f_xy = der(f, x, y);
  function f_xyx = der(f_xy, x);
  function f_named = f_x(y = 3);

  function total
    input Pair r;
    output Real y;
  algorithm
    y := r.a^2 + sum({r.b*k for k in {0.5, 1.5}});
  end total;

  function g
    input Real x;
    output Real z;
  protected
    Pair r;
  algorithm
    r := Pair(x*x, 3*x, 1);
    r.b := r.b*x;
    z := if r.n > 0 then r.a*r.b + total(r) else 0;
  end g;
  function g_x = der(g, x);
  function g_xx = der(g_x, x);

  function power
    input Real x;
    input Integer n;
    output Real y;
  algorithm
    y := if n <= 0 then 1 else x*power(x, n - 1);
  end power;
  function power_x = der(power, x);

  function several
    input Real x;
    output Real a;
    output Real b[2];
  algorithm
    a := x^3;
    b := {x, x^2};
  end several;
  function several_x = der(several, x);

  function fromSeveral
    input Real x;
    output Real s;
  protected
    Real a;
    Real b[2];
  algorithm
    (a, b) := several(x);
    s := a*b[2];
  end fromSeveral;
  function fromSeveral_x = der(fromSeveral, x);

  function outside "Of an external function the annotation tells the derivative."
    input Real x;
    output Real y;
  external "builtin" y = sin(x);
    annotation (derivative = outside_d);
  end outside;
  function outside_d
    input Real x;
    input Real dx;
    output Real dy;
  algorithm
    dy := cos(x)*dx;
  end outside_d;
  function outside_x = der(outside, x);

  partial package Curve
    replaceable partial function value
      input Real x;
      input Real c = 2;
      output Real y;
    end value;
    function slope = der(value, x);
  end Curve;
  package Cubic
    extends Curve;
    redeclare function extends value
    algorithm
      y := c*x^3;
    end value;
  end Cubic;
  package Growth
    extends Curve;
    redeclare function extends value
    algorithm
      y := exp(c*x);
    end value;
  end Growth;

  model PartialDerivatives
    parameter Real p = f_xyx(2, 3);
    Real x = 1 + time, atStart = p;
    Real y1 = f_x(x, 2), y2 = f_xx(x, 2), y3 = f_xy(x, 2), y4 = f_named(x);
    Real g1 = g_x(x), g2 = g_xx(x);
    Real n1 = power_x(x, 4);
    Real a, b[2], c = fromSeveral_x(x);
    Real o = outside_x(x);
    Real cubic[2] = Cubic.slope({x, 2*x}), growth = Growth.slope(time, 3);
    Real z(start = 1), w(start = 0, fixed = true);
  equation
    (a, b) = several_x(x);
    Cubic.slope(z) = 6*x^2;
    der(w) = der(z);
  end PartialDerivatives;
end PartialDerivatives;
// class: PartialDerivatives.PartialDerivatives
// at t=1: atStart = 12 ± 1e-12 (closed form: 4 y)
// at t=1: y1 = 21.583853163452858 ± 1e-12 (closed form: 2 x y^2 + cos(x) + 6)
// at t=1: y2 = 7.090702573174318 ± 1e-12 (closed form: 2 y^2 - sin(x))
// at t=1: y3 = 16 ± 1e-12 (closed form: 4 x y)
// at t=1: y4 = 41.58385316345286 ± 1e-12 (closed form: 2 x 3^2 + cos(x) + 6)
// at t=1: g1 = 152 ± 1e-9 (closed form: g = 4 x^4 + 6 x^2, so 16 x^3 + 12 x)
// at t=1: g2 = 204 ± 1e-9 (closed form: 48 x^2 + 12)
// at t=1: n1 = 32 ± 1e-12 (closed form: 4 x^3)
// at t=1: a = 12 ± 1e-12 (closed form: 3 x^2)
// at t=1: b[1] = 1 ± 1e-12 (closed form)
// at t=1: b[2] = 4 ± 1e-12 (closed form: 2 x)
// at t=1: c = 80 ± 1e-9 (closed form: 5 x^4)
// at t=1: o = -0.4161468365471424 ± 1e-12 (closed form: cos(x))
// at t=1: cubic[1] = 24 ± 1e-12 (closed form: 6 x^2)
// at t=1: cubic[2] = 96 ± 1e-12 (closed form: 6 (2 x)^2)
// at t=1: growth = 60.25661076956300 ± 1e-9 (closed form: 3 exp(3 t))
// at t=1: z = 2 ± 1e-9 (closed form: x)
// at t=1: w = 1 ± 1e-6 (closed form: t)
