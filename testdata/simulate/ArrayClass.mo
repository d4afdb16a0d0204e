// A short definition with subscripts is an array: of records, of records in records, of models (specification 4.6.1).
model ArrayClass
  record X
    parameter Real a = 1;
    Real b;
  end X;
  record T = X[3](a = {1, 2, 3});
  record U = T[2](each b = time);
  model M
    Real x(start = 1, fixed = true);
  equation
    der(x) = -x;
  end M;
  model MM = M[2];
  function f
    input T t;
    output Real y = sum(t.a);
  end f;
  T t(b = {1, 2, 3}*time);
  U u;
  MM m(x(start = {1, 2}));
  Real y = f(t);
  Real z = sum(t.b) + sum(u.b) + sum(u.a);
end ArrayClass;
// balance: 13 equations, 13 unknowns
// at t=1: y = 6 ± 1e-12 (closed form: 1 + 2 + 3)
// at t=1: z = 24 ± 1e-12 (closed form: 6 + 6 + 2*6)
// at t=1: m[2].x = 0.7357588823428847 ± 1e-5 (closed form: 2*exp(-t))
