// Of equal variables the start counts that is given further outside, and where it is a parameter the value of that.
model StartConfidence
  connector Signal = input Real;
  model Part
    parameter Real first = 4;
    Signal x(start = first);
  end Part;
  model Wrapped
    parameter Real first = 4;
    Part part(first = first);
    Signal x;
  equation
    connect(x, part.x);
  end Wrapped;
  model Mixed
    Signal inside(start = 100);
    Signal outside;
  end Mixed;
  Part a;
  Wrapped b(first = 3);
  Mixed m(outside(start = 2));
equation
  a.x = b.part.x;
  der(a.x) = 0;
  m.inside = m.outside;
  der(m.inside) = 0;
end StartConfidence;
// at t=1: a.x = 3 ± 1e-12 (the value of b.first is given in the model itself)
// at t=1: m.inside = 2 ± 1e-12 (given in the model itself, that of m.inside in m)
