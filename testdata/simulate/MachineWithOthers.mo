// Transitions at the start, together with a `when`, beside samples and clocks, by priority, through a state without equations.
model MachineWithOthers
  model R
    parameter Real k = 1;
    Real x(start = 0, fixed = true);
  equation
    der(x) = k;
  end R;
  model Off
  end Off;
  Real q(start = 0, fixed = true), xs, held;
  discrete Real s(start = 0, fixed = true);
  R atStart1(x(start = 1)), atStart2(k = 2);
  R together1, together2(k = 2);
  R clocked1, clocked2(k = 2);
  R first, second(k = 2), third(k = 3);
  R from, to(k = 2);
  Off between;
equation
  der(q) = 1;
  when time >= 0.5 then
    reinit(q, 10);
  end when;
  // From 0.
  initialState(atStart1);
  transition(atStart1, atStart2, atStart1.x > 0.5);
  // The event is settled before the state is entered.
  initialState(together1);
  transition(together1, together2, time >= 0.5);
  when activeState(together2) then
    reinit(together2.x, pre(q));
  end when;
  // Held from the tick at 0.3 on.
  xs = sample(time, Clock(1, 10));
  held = hold(xs);
  initialState(clocked1);
  transition(clocked1, clocked2, held >= 0.25);
  when sample(0, 0.1) then
    s = if activeState(clocked1) then clocked1.x else 10 + clocked2.x;
  end when;
  initialState(first);
  transition(first, second, first.x >= 0.5, priority = 2);
  transition(first, third, first.x >= 0.5, priority = 1);
  initialState(from);
  transition(from, between, from.x >= 0.5);
  transition(between, to, true);
  when activeState(to) then
    reinit(to.x, pre(from.x));
  end when;
end MachineWithOthers;
// at t=0.95: atStart2.x = 1.9 ± 1e-8 (closed form)
// at t=0.95: together2.x = 10.9 ± 1e-8 (closed form)
// at t=0.95: clocked2.x = 1.3 ± 1e-8 (closed form)
// at t=0.95: s = 11.2 ± 1e-8 (closed form: the sample at 0.9)
// at t=0.95: xs = 0.9 ± 1e-12 (closed form: the tick at 0.9)
// at t=0.95: third.x = 1.35 ± 1e-8 (closed form)
// at t=0.95: to.x = 1.4 ± 1e-8 (closed form)
