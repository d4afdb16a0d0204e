model ClockedAtStart "What clocks see at the start"
  Real y(start = 1);
  Real yc, held(start = 4);
  Boolean on = time < 0.5;
  Integer n(start = 0);
  Real before(start = 3), late(start = 9);
equation
  der(y) + y = 2;
  yc = sample(y, Clock(1, 10));
  held = yc + 1;
  n = previous(n) + sample(1, Clock(on));
  before = hold(late) + 0*time;
  late = shiftSample(yc, 2);
initial equation
  der(y) = 0;
  annotation(experiment(StopTime = 0.3));
end ClockedAtStart;
// at t=0: yc = 2 ± 1e-9 (the left limit at the first tick is the initialised value, specification 16.5.1)
// at t=0: n = 1 ± 0 (a condition that holds at the start has become true)
// at t=0.15: before = 9 ± 0 (start value before the first tick)
// at t=0.25: before = 2 ± 1e-9 (since 0.2)
