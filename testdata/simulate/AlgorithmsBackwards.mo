// Algorithms that are solved for what they read, because equations tell what they assign.
model AlgorithmsBackwards
  Real x(start = 1), y;
  Real p(start = 1), q, r "one of two results is enough";
  Real a1, a2, b1, b2 "linear, one result constant";
  Real v, w(start = 1), u "the derivative of what is found";
  Real s, d "beside a when";
  discrete Real k(start = 0, fixed = true);
  Real n(start = 2), m "through a loop that is called";
  Real e(start = 1), f "across a branch";
  model Square
    input Real u;
    output Real y;
  algorithm
    y := u*u;
  end Square;
  Square inverse(u(start = 1) = h, y = 4 + time);
  Real h;
algorithm
  y := x^3 + x;
equation
  y = 10*time;
algorithm
  q := p^2;
  r := p + 1;
equation
  q + r = 3 + 4*time;
algorithm
  b1 := a1 + a2;
  b2 := b1 - 2*a2;
equation
  b1 = time;
  b2 = 3;
algorithm
  u := w*w;
equation
  u = 1 + time;
  v = der(w);
algorithm
  d := s;
  when sample(0.25, 0.25) then
    k := pre(k) + 1;
  end when;
  d := d + k;
equation
  d = 2*time;
algorithm
  m := 0;
  while noEvent(m < 0.9*n) loop
    m := m + n/4;
  end while;
  m := m + n^2;
equation
  m = 6 + 6*time;
algorithm
  if e > 0.5 then
    f := 2*e;
  else
    f := e + 0.5;
  end if;
equation
  f = 0.5 + time;
  annotation (experiment(StopTime = 0.9));
end AlgorithmsBackwards;
// at t=0.2: x = 1 ± 1e-9 (closed form: x^3 + x = 10 t has the root 1)
// at t=0.9: p = 1.9186773244895647 ± 1e-9 (closed form: (-1 + sqrt(9 + 16 t))/2)
// at t=0.9: a1 = 1.95 ± 1e-9 (closed form: (t + 3)/2)
// at t=0.9: a2 = -1.05 ± 1e-9 (closed form: (t - 3)/2)
// at t=0.9: w = 1.378404875209022 ± 1e-9 (closed form: sqrt(1 + t))
// at t=0.9: v = 0.36273812505500586 ± 1e-9 (closed form: 1/(2 sqrt(1 + t)))
// at t=0.9: s = -1.2 ± 1e-9 (closed form: 2 t - 3 after three samples)
// at t=0.9: n = 2.9132096331752027 ± 1e-9 (closed form: n + n^2 = 6 + 6 t)
// at t=0.2: e = 0.2 ± 1e-9 (closed form: t)
// at t=0.9: e = 0.7 ± 1e-9 (closed form: (0.5 + t)/2)
// at t=0.9: h = 2.2135943621178655 ± 1e-9 (closed form: sqrt(4 + t))
