// With `synchronize` a state is left when the machine in it is at its end: at 0.5, not at 0.2.
model MachineSynchronizes
  model R
    Real x(start = 0, fixed = true);
  equation
    der(x) = 1;
  end R;
  model Outer
    R a, b;
  equation
    initialState(a);
    transition(a, b, a.x >= 0.5);
  end Outer;
  Outer o;
  R e;
equation
  initialState(o);
  transition(o, e, time >= 0.2, synchronize = true);
end MachineSynchronizes;
// at t=1: e.x = 0.5 ± 1e-8 (closed form)
