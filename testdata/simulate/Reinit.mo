// A state that is set anew at an event: see docs/book/start-and-events.md.
model Reinit
  Real x(start = 0, fixed = true);
  Real y = 2*x "Follows at once";
  discrete Real before(start = 0, fixed = true) "x as it was";
  discrete Integer n(start = 0, fixed = true) "Times that x was high";
  discrete Integer again(start = 0, fixed = true) "Times that x was low after that";
equation
  der(x) = 1;
  when x >= 1 then
    reinit(x, pre(x) - 1.5);
    before = pre(x);
    n = pre(n) + 1;
  end when;
  when x < 0 then
    again = pre(again) + 1;
  end when;
  annotation (experiment(StopTime = 2));
end Reinit;
// at t=0.5: x = 0.5 ± 1e-9 (closed form)
// at t=2: x = 0.5 ± 1e-9 (from -0.5 at 1)
// at t=2: y = 1 ± 1e-9 (2*x)
// at t=2: before = 1 ± 1e-9 (the left limit)
// at t=2: n = 1 ± 0 (at 1)
// at t=2: again = 1 ± 0 (the new value is seen in the same event)
