// Delayed signals: smooth ones, jumps and a delay that changes; each is what it was before.
model Delays
  Real u = sin(time);
  Real y = delay(u, 0.5);
  // jumps at 1, arrives at 1.25
  Boolean b = time >= 1;
  Boolean d = delay(b, 0.25);
  Real step = if b then 2 else 1;
  Real late = delay(step, 0.25);
  // a delay of 0.1 + 0.1*time: the signal of time is t - delay
  Real vary = delay(time, 0.1 + 0.1*time, 1);
  // der(x) = -x(t - 1) with x = 1 before 0: 1 - t on the first second, then 1 - t + (t - 1)^2/2
  Real x(start = 1, fixed = true);
  discrete Real arrived(start = 0, fixed = true);
equation
  der(x) = -delay(x, 1);
  when d then
    arrived = time;
  end when;
  annotation(experiment(StopTime = 2, Tolerance = 1e-8));
end Delays;
// at t=0.25: y = 0 ± 1e-12 (constant before the start)
// at t=1: y = 0.479425538604203 ± 1e-7 (sin(0.5))
// at t=2: y = 0.9974949866040544 ± 1e-7 (sin(1.5))
// at t=1.2: late = 1 ± 1e-12 (before the jump arrives)
// at t=1.3: late = 2 ± 1e-12 (after the jump arrived)
// at t=2: vary = 1.7 ± 1e-9 (2 - 0.3)
// at t=0.5: x = 0.5 ± 1e-8 (1 - t)
// at t=1.5: x = -0.375 ± 1e-7 (1 - t + (t - 1)^2/2)
// at t=2: x = -0.5 ± 1e-7 (1 - t + (t - 1)^2/2)
// at t=2: arrived = 1.25 ± 1e-12 (1 + 0.25)
