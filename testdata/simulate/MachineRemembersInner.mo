// A state that is entered without `reset` goes on with the inner state it was in: b from 0.15 to 0.2, from 0.4 to 0.6 and from 0.8 on.
// With `reset` it begins with a: then b runs from 0.55 and 0.95 on, from its start value.
model MachineRemembersInner
  model R
    Real x(start = 0, fixed = true);
  equation
    der(x) = 1;
  end R;
  model Outer
    R a, b;
  equation
    initialState(a);
    transition(a, b, a.x >= 0.15);
  end Outer;
  Outer goesOn, begins, again;
  R pause1, pause2;
equation
  initialState(goesOn);
  transition(goesOn, pause1, timeInState() >= 0.2);
  transition(pause1, goesOn, timeInState() >= 0.2, reset = false);
  initialState(begins);
  transition(begins, pause2, timeInState() >= 0.2);
  transition(pause2, begins, timeInState() >= 0.2);
  // Left and entered at 0.4 and 0.8.
  initialState(again);
  transition(again, again, timeInState() >= 0.4);
end MachineRemembersInner;
// at t=1: goesOn.b.x = 0.45 ± 1e-8 (closed form)
// at t=1: begins.b.x = 0.05 ± 1e-8 (closed form)
// at t=1: again.b.x = 0.05 ± 1e-8 (closed form)
