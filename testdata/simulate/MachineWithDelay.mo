// The past of a delay in a state begins where the state is entered, with its value there: b.y is 0 until 0.6. One outside goes on.
model MachineWithDelay
  model R
    Real x(start = 0, fixed = true), y;
  equation
    der(x) = 1;
    y = delay(x, 0.1);
  end R;
  R a, b;
  Real q(start = 0, fixed = true), late;
equation
  der(q) = 1;
  late = delay(q^2, 0.3);
  initialState(a);
  transition(a, b, a.x >= 0.5);
end MachineWithDelay;
// at t=0.4: a.y = 0.3 ± 1e-8 (closed form)
// at t=0.55: b.y = 0 ± 1e-8 (closed form)
// at t=0.8: b.y = 0.2 ± 1e-8 (closed form)
// at t=0.6: late = 0.09 ± 1e-8 (closed form)
// at t=0.9: late = 0.36 ± 1e-8 (closed form)
