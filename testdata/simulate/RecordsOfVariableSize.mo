// Fields of a local array of records whose size varies are assigned (specification 11.2.1). A record chosen by `if` keeps its
// discrete field discrete (4.5.5).
model RecordsOfVariableSize
  record C
    Real x;
    Integer n;
  end C;
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
  C d = if time > 0.5 then C(time, 2) else C(1, 3);
  Real s = weighted(3, time);
end RecordsOfVariableSize;
// at t=0.2: d.n = 3 ± 0 (the second branch)
// at t=1: d.n = 2 ± 0 (the first branch)
// at t=1: d.x = 1 ± 1e-12 (closed form: t)
// at t=1: s = 20 ± 1e-12 (closed form: 6*t + 3 + 10 + t)
