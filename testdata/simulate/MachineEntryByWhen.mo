// Discrete variables take values of states that are left: a is left at 0.25 and 0.8 with 0.5.
model MachineEntryByWhen
  model R
    parameter Real k = 1;
    Real x(start = 0, fixed = true);
  equation
    der(x) = k;
  end R;
  R a(k = 2), b;
  discrete Real y(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  initialState(a);
  transition(a, b, a.x >= 0.5);
  transition(b, a, b.x >= 0.3);
  when activeState(b) then
    y = pre(a.x) + pre(y);
    n = pre(n) + 1;
  end when;
end MachineEntryByWhen;
// at t=1: y = 1 ± 1e-8 (closed form)
// at t=1: n = 2 ± 0 (closed form)
// at t=1: b.x = 0.2 ± 1e-8 (closed form)
