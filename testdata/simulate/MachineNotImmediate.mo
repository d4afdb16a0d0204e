// There is no next tick to wait for.
model MachineNotImmediate
  model R
    Real x(start = 0, fixed = true);
  equation
    der(x) = 1;
  end R;
  R a, b;
equation
  initialState(a);
  transition(a, b, a.x >= 0.5, immediate = false);
//^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0859]: `immediate = false` has no meaning in a state machine of continuous time: there is no next tick
end MachineNotImmediate;
