// A record constructor fills in the defaults of arrays of records, each element with its own modifications (specification 12.6); a record in a
// record has the sizes of its modification also as an argument.
model RecordDefaults
  record P
    parameter Integer n = 2;
    Real x[n] = ones(n);
    Real k = 1;
  end P;
  record Q
    P p[2](k = {5, 6});
    P z[2](each k = 4, n = {1, 3});
    Real w = 2;
  end Q;
  record T
    parameter Integer m = 2;
    P p[m](each k = 3);
    P one(n = 3);
    Q q(w = 7);
  end T;
  function ofQ
    input Q q;
    output Real y = q.w + sum(q.p.k) + 10*sum(q.z[2].x) + 100*sum(q.z[1].x) + 1000*sum(q.p[1].x);
  end ofQ;
  function ofT
    input T t;
    output Real y = ofQ(t.q) + 0.1*sum(t.one.x) + 0.01*sum(t.p[i].k for i in 1:t.m);
  end ofT;
  function local
    input Real a;
    output Real y;
  protected
    T t(one(k = a), m = 3);
    P z(n = integer(a));
  algorithm
    y := t.one.k + 10*size(t.p, 1) + 100*size(z.x, 1);
  end local;
  Q q = Q();
  T t(m = 3);
  Real a = ofQ(Q());
  Real b = ofQ(Q(w = time));
  Real c = ofQ(q);
  Real d = ofT(T(m = 3));
  Real e = ofT(t);
  Real f = local(4);
end RecordDefaults;
// at t=1: a = 2143 ± 1e-12 (2 + 11 + 30 + 100 + 2000)
// at t=1: b = 2142 ± 1e-12 (closed form: t + 11 + 30 + 100 + 2000)
// at t=1: c = 2143 ± 1e-12 (as a)
// at t=1: d = 2148.39 ± 1e-12 (7 + 11 + 30 + 100 + 2000 + 0.3 + 0.09)
// at t=1: e = 2148.39 ± 1e-12 (as d)
// at t=1: f = 434 ± 1e-12 (4 + 10*3 + 100*4)
