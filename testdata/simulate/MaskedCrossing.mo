// `x > 3` cannot change anything while `on` is true: no event at 3. As `on` becomes false at 5 the condition stays true, so
// the clause does not fire again; below 3 it becomes false, and true again at the next crossing.
model MaskedCrossing
  Real x(start = 0, fixed = true);
  Boolean on(start = true, fixed = true);
  Integer n(start = 0, fixed = true);
equation
  der(x) = if time < 6 then 1 else if time < 10 then -1 else 1;
  on = time < 5;
  when on or x > 3 then
    n = pre(n) + 1;
  end when;
  annotation(experiment(StopTime = 12));
end MaskedCrossing;
// at t=12: x = 4 ± 1e-9 (closed form: t, then 12 - t, then t - 8)
// at t=8: n = 0 ± 0 (true from the start on, without a rise)
// at t=12: n = 1 ± 0 (the rise at 11)
