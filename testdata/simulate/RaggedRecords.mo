// Records in one array may differ in the sizes of their fields (specification 6.7, 10); each element is used by itself, and whole arrays
// of them are arguments and values.
model RaggedRecords
  record R
    Real x[:];
    Real k;
  end R;
  record P
    parameter Integer n = 2;
    Real x[n];
  end P;
  record Q
    parameter Integer m = 1;
    P p[m];
    P one(n = m);
  end Q;
  model Part
    parameter Integer n = 1;
    Real x[n] = {n*k*time for k in 1:n};
  end Part;
  model Reader
    outer Q shared[2];
    Real y = total(shared[1]) + 1000*total(shared[2]);
  end Reader;
  function weighted
    input R r[:];
    output Real y = 0;
  algorithm
    for i in 1:size(r, 1) loop
      y := y + r[i].k*sum(r[i].x);
    end for;
  end weighted;
  function total
    input Q q;
    output Real y = 0;
  algorithm
    for i in 1:q.m loop
      y := y + i*sum(q.p[i].x);
    end for;
    y := y + 100*sum(q.one.x);
  end total;
  function first
    input Integer m;
    output P p(n = m);
  algorithm
    for i in 1:m loop
      p.x[i] := i;
    end for;
  end first;
  function numbered
    input P p[:];
    output Real y = 0;
  algorithm
    for i in 1:size(p, 1) loop
      y := y + i*sum(p[i].x);
    end for;
  end numbered;
  function chosen
    input R r[:];
    input Integer i;
    output Real y = sum(r[i].x);
  end chosen;
  parameter R a[2] = {R({1, 2}, 2), R({1, 2, 3}, 3)};
  constant R b[:] = {R({1, 2}, 2), R({1, 2, 3}, 3), R(fill(0.0, 0), 4)};
  R c[2] = {R({1, time}, 2), R({1, time, 3}, 3)};
  R d[2] = c;
  P p[2](n = {1, 3}) = {first(1), first(3)};
  P q[3](n = {1, 2, 3});
  Part part[2](n = {2, 3});
  inner Q shared[2](m = {1, 2});
  Reader reader;
  parameter Real ofParameters = weighted(a);
  constant Real ofConstants = weighted(b);
  Real ofVariables = weighted(d);
  Real written = weighted({R({time}, 1), R({1, time}, 2)});
  Real ofResults = numbered(p);
  Real fields = sum(c.k) + b[3].k + b[2].x[3];
  Integer n = if time < 0.5 then 1 else 2;
  Real varying = c[n].k;
  Real inFunction = chosen(c, n);
  Real parts = sum(sum(part[i].x) for i in 1:2);
  Real looped;
equation
  for i in 1:3 loop
    q[i].x = {10*i + k for k in 1:q[i].n};
  end for;
  for i in 1:2 loop
    for j in 1:shared[i].m loop
      shared[i].p[j].x = fill(time, 2);
    end for;
    shared[i].one.x = ones(i);
  end for;
algorithm
  looped := 0;
  for i in 1:3 loop
    for j in 1:q[i].n loop
      looped := looped + q[i].x[j];
    end for;
    looped := looped + 100*sum(q[i].x);
  end for;
end RaggedRecords;
// at t=1: ofVariables = 19 ± 1e-12 (closed form: 2*(1 + t) + 3*(4 + t))
// at t=1: written = 5 ± 1e-12 (closed form: t + 2*(1 + t))
// at t=1: ofResults = 13 ± 1e-12 (1*1 + 2*(1 + 2 + 3))
// at t=1: fields = 12 ± 1e-12 (2 + 3 + 4 + 3)
// at t=0.2: varying = 2 ± 0 (the first record)
// at t=1: varying = 3 ± 0 (the second record)
// at t=0.2: inFunction = 1.2 ± 1e-12 (closed form: 1 + t)
// at t=1: inFunction = 5 ± 1e-12 (closed form: 4 + t)
// at t=1: parts = 24 ± 1e-12 (closed form: 2*(1 + 2)*t + 3*(1 + 2 + 3)*t)
// at t=1: looped = 15150 ± 1e-9 (101*(11 + 21 + 22 + 31 + 32 + 33))
// at t=1: reader.y = 206102 ± 1e-6 (closed form: 2*t + 100 + 1000*(2*t + 4*t + 200))
