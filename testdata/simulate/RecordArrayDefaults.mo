// Fields of a local array of records whose size varies are assigned (specification 11.2.1). Constructors fill in arrays of records
// whose fields have defaults (12.6.1). A record chosen by `if` keeps its discrete field discrete (4.5.5).
model RecordArrayDefaults
  record A
    Real v = 2;
    Real w = 3;
  end A;
  record B
    parameter Integer n = 2;
    A a[2];
    A b[2, n];
    Real z = 1;
  end B;
  record C
    Real x;
    Integer n;
  end C;
  function total
    input Integer n;
    output Real y;
  protected
    A a[n];
  algorithm
    a[1].v := 10;
    y := sum(a.v) + sum(a.w);
  end total;
  record P
    Real x;
    Real y;
  end P;
  function weighted
    input Integer n;
    input Real u;
    output Real s;
  protected
    P p[n];
    P q[n, 2];
  algorithm
    for i in 1:n loop
      p[i].x := i*u;
      p[i].y := 1;
      q[i, 2].x := 10;
      q[i, 1].x := p[i].x;
    end for;
    s := sum(p[i].x for i in 1:n) + sum(p.y) + q[n, 2].x + q[1, 1].x;
  end weighted;
  Real s = weighted(3, time);
  B b = B();
  B c = B(a = {A(1, 2), A(time, 5)}, z = 4);
  C d = if time > 0.5 then C(time, 2) else C(1, 3);
  Real y = total(3);
end RecordArrayDefaults;
// at t=1: b.a[1].v = 2 ± 0 (the default)
// at t=1: b.a[2].w = 3 ± 0 (the default)
// at t=1: b.b[2,2].w = 3 ± 0 (the default)
// at t=1: c.a[2].v = 1 ± 1e-12 (closed form: t)
// at t=1: c.b[1,2].v = 2 ± 0 (the default)
// at t=0.2: d.n = 3 ± 0 (the second branch)
// at t=1: d.n = 2 ± 0 (the first branch)
// at t=1: d.x = 1 ± 1e-12 (closed form: t)
// at t=1: y = 23 ± 0 (10 + 2 + 2 and three times 3)
// at t=1: s = 20 ± 1e-12 (closed form: 6*t + 3 + 10 + t)
// events: 0.5 (the branch)
