// The derivative of a function with a loop that takes and returns a record.
model RecordDerivatives
  record R
    Real a;
    Integer n;
    Real b[2];
  end R;
  function f
    input R r;
    output R q;
  protected
    Real s;
    Integer i;
  algorithm
    s := 0;
    i := 1;
    while i <= r.n loop
      s := s + r.a^i;
      i := i + 1;
    end while;
    q := R(s, r.n, {r.b[1]*s, r.b[2]});
  end f;
  Integer n = if time < 0.5 then 1 else 2;
  R q = f(R(time, n, {time, 3}));
  Real da = der(q.a);
  Real db = der(q.b[1]);
end RecordDerivatives;
// at t=0.25: da = 1 ± 1e-9 (closed form: t, t²)
// at t=0.25: db = 0.5 ± 1e-9 (closed form: t, t²)
// at t=1: da = 3 ± 1e-9 (closed form: t + t², t² + t³)
// at t=1: db = 5 ± 1e-9 (closed form: t + t², t² + t³)
