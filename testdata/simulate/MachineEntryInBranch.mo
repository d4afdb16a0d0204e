// The entry value of an algebraic variable, through the branch that holds with it: 2*x = 3.
model MachineEntryInBranch
  model R
    Real x(start = 0, stateSelect = StateSelect.always), y;
  equation
    der(x) = 0;
    y = if x > 0 then 2*x else x;
  end R;
  model T
    Real z(start = 0, fixed = true);
  equation
    der(z) = 1;
  end T;
  T a;
  R b;
equation
  initialState(a);
  transition(a, b, a.z >= 0.5);
  when activeState(b) then
    reinit(b.y, 3);
  end when;
end MachineEntryInBranch;
// at t=1: b.x = 1.5 ± 1e-10 (closed form)
