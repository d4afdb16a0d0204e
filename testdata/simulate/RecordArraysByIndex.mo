// An index that changes chooses the record of an array that an algorithm assigns to or reads (specification 11.2.1): fields, whole records,
// records in records, results of a call, inside and outside of `when` and of loops whose number of rounds changes.
model RecordArraysByIndex
  record R
    Real u;
    Real v;
    Integer k;
  end R;
  record Q
    R r[2];
    Real x[2];
  end Q;
  function two
    input Real a;
    output Real p = a;
    output R r = R(a, 2*a, 3);
  end two;
  Integer n = if time < 0.5 then 1 else 3;
  Integer m = if time < 0.5 then 2 else 4;
  Integer i = if time < 0.5 then 1 else 2;
  Integer j = if time < 0.3 then 1 else 2;
  R a[3], b[4], chosen;
  R sampled[3](
    u(each start = 0, each fixed = true),
    each v = -1,
    k(each start = 0, each fixed = true));
  Integer count(start = 0, fixed = true);
  Real sum2(start = 0, fixed = true);
  Q q[2];
  Real y, s, p;
algorithm
  for l in 1:3 loop
    a[l] := R(l, 10*l, l);
  end for;
  a[n].u := a[n].u + time;
  a[4 - n] := R(time, 7, n);
  y := a[n].u;
  chosen := a[n];
algorithm
  for l in 1:4 loop
    b[l] := R(0, 0, 0);
  end for;
  s := 0;
  for l in 1:m loop
    b[l].u := l*time;
    b[l].k := l;
    s := s + b[l].u;
  end for;
  for l in 1:m loop
    b[l] := R(b[l].u, s, b[l].k);
  end for;
algorithm
  when sample(0.25, 0.25) then
    count := pre(count) + 1;
    if count <= 3 then
      sampled[count].u := time;
      sampled[count].k := 10*count;
      sum2 := sampled[count].u + (if count > 1 then sampled[max(1, count - 1)].u else 0);
    end if;
  end when;
algorithm
  for l in 1:2 loop
    q[l].x := {l, 2*l};
    for o in 1:2 loop
      q[l].r[o] := R(10*l + o, 0, 0);
    end for;
  end for;
  q[i].r[j].v := 5;
  q[i].x[j] := 100;
  q[j].x := q[j].x + {1, 1};
  (q[i].r[1].u, q[3 - i].r[j]) := two(time);
  p := q[i].r[j].u + q[j].x[i];
end RecordArraysByIndex;
// at t=0.25: y = 1.25 ± 1e-12 (closed form: 1 + t)
// at t=0.25: a[3].u = 0.25 ± 1e-12 (closed form: t)
// at t=0.25: a[3].k = 1 ± 0 (n)
// at t=0.25: chosen.v = 10 ± 0 (the first record)
// at t=1: y = 4 ± 1e-12 (closed form: 3 + t)
// at t=1: a[1].v = 7 ± 0 (assigned by index)
// at t=1: a[2].u = 2 ± 0 (never chosen)
// at t=1: chosen.v = 30 ± 0 (the third record)
// at t=0.25: s = 0.75 ± 1e-12 (closed form: (1 + 2)*t)
// at t=0.25: b[3].k = 0 ± 0 (not reached)
// at t=0.25: b[2].v = 0.75 ± 1e-12 (closed form: s)
// at t=1: s = 10 ± 1e-12 (closed form: (1 + 2 + 3 + 4)*t)
// at t=1: b[4].v = 10 ± 1e-12 (closed form: s)
// at t=1: b[4].k = 4 ± 0 (reached)
// at t=0.3: sampled[1].u = 0.25 ± 1e-12 (time of the first sample)
// at t=0.3: sampled[2].u = 0 ± 0 (start value)
// at t=1: sampled[3].u = 0.75 ± 1e-12 (time of the third sample)
// at t=1: sampled[2].k = 20 ± 0 (10*2)
// at t=1: sum2 = 1.25 ± 1e-12 (0.75 + 0.5)
// at t=0.1: q[1].r[1].v = 5 ± 0 (i = j = 1)
// at t=0.1: q[1].x[1] = 101 ± 0 (100 + 1)
// at t=0.1: p = 101.1 ± 1e-12 (closed form: t + 101)
// at t=0.4: q[1].r[2].v = 5 ± 0 (i = 1, j = 2)
// at t=0.4: q[2].r[2].u = 0.4 ± 1e-12 (closed form: t)
// at t=0.4: p = 15 ± 1e-12 (12 + (2 + 1))
// at t=1: q[2].x[2] = 101 ± 0 (100 + 1)
// at t=1: q[1].r[2].v = 2 ± 1e-12 (closed form: 2*t)
// at t=1: p = 123 ± 1e-12 (22 + 101)
