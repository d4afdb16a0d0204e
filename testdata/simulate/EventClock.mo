model EventClock "A clock that ticks when a condition becomes true"
  Real angle = 10*time;
  Real turn(start = 0) "Angle at the last tick";
  Boolean b = angle - hold(turn) >= 1.5;
  Clock c = Clock(b, startInterval = 7);
  Boolean seen;
  Real h;
  Integer n(start = 0), every2(start = 0);
equation
  turn = sample(angle, c);
  seen = sample(b, c);
  h = interval(turn);
  n = previous(n) + (if turn > 0 then 1 else 0);
  every2 = subSample(n, 2);
  annotation(experiment(StopTime = 0.7));
end EventClock;
// The condition becomes true each time angle has grown by 1.5: at 0.15, 0.3, 0.45, 0.6.
// at t=0.1499: n = 0 ± 0 (closed form: before the first tick)
// at t=0.1501: n = 1 ± 0 (closed form: after it)
// at t=0.2: h = 7 ± 0 (startInterval)
// at t=0.2: seen = 1 ± 0 (specification 16.3: the clock and sample are late by the same event iteration)
// at t=0.7: n = 4 ± 0 (ticks)
// at t=0.7: every2 = 3 ± 0 (n at the third tick)
// at t=0.7: h = 0.15 ± 1e-9 (closed form)
// at t=0.7: turn = 6 ± 1e-9 (closed form)
