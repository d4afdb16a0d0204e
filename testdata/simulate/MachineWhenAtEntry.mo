// A `when` in a state waits for its condition to become true after the entry: a is entered four times, and its condition becomes true in the first visit.
model MachineWhenAtEntry
  model A
    Real x(start = 0, fixed = true);
    Integer n(start = 0, fixed = true);
  equation
    der(x) = 1;
    when x > 0.1 then
      n = pre(n) + 1;
    end when;
  end A;
  A a, b;
equation
  initialState(a);
  transition(a, b, a.n >= 1 and timeInState() >= 0.15);
  transition(b, a, b.n >= 1, reset = false);
end MachineWhenAtEntry;
// at t=0.84: a.x = 0.54 ± 1e-8 (closed form: a until 0.15, from 0.25 to 0.4, from 0.5 to 0.65, from 0.75 on)
// at t=0.84: a.n = 1 ± 0 (closed form)
