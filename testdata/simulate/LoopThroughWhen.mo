// At the instants at which a `when` is active its equations are solved together with those that hold always: the specification
// (8.3.5) asks for a variable on the left side only. Between them the variable keeps its value.
model LoopThroughWhen
  discrete Real y;
  Real x;
  discrete Real b;
  Real a(start = 1);
equation
  when sample(0, 0.2) then
    y = 7 - 2*x + time;
  end when;
  x + y = 5;
  when sample(0, 0.25) then
    b = a^2 - time;
  end when;
  a + b = 1;
end LoopThroughWhen;
// at t=0: x = 2 ± 1e-12 (closed form: 7 - 2 x + t + x = 5, so x = 2 + t)
// at t=0.5: x = 2.4 ± 1e-12 (closed form: of the tick at 0.4)
// at t=0.5: y = 2.6 ± 1e-12 (closed form: 5 - x)
// at t=0.6: a = 0.8228756555322954 ± 1e-9 (closed form: a^2 + a = 1 + 0.5 of the tick at 0.5, the positive root)
