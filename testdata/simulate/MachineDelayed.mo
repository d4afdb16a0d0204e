// A delayed transition fires where an immediate one does: after the event at which its condition became true.
model MachineDelayed
  model R
    Real x(start = 0, fixed = true);
  equation
    der(x) = 1;
  end R;
  R a, b;
  R c, d;
  Integer n(start = 0, fixed = true);
equation
  initialState(a);
  transition(a, b, a.x >= 0.5, immediate = false);
  transition(b, a, b.x >= 0.3, immediate = false);
  initialState(c);
  transition(c, d, c.x >= 0.5);
  transition(d, c, d.x >= 0.3);
  when activeState(b) then
    n = pre(n) + 1;
  end when;
end MachineDelayed;
// at t=0.7: b.x = 0.2 ± 1e-8 (closed form: b was entered at 0.5)
// at t=0.7: d.x = 0.2 ± 1e-8 (closed form: the same)
// at t=1: a.x = 0.2 ± 1e-8 (closed form: a was entered at 0.8)
// at t=1: c.x = 0.2 ± 1e-8 (closed form: the same)
// at t=1: n = 1 ± 0 (closed form: once)
