// Delays of what is piecewise constant, though declared continuous: jumps arrive exactly, also chains of them, and also
// where an event in the middle of a step makes them. The delay of 1 ms must not limit the steps to 1 ms.
model DelayedPieces
  // An event of no influence on x, inside of its steps; y follows 1 ms later.
  Real x(start = 0, fixed = true);
  Boolean b = x > 2.5;
  Real r = if b then 1 else 0;
  Real y = delay(r, 0.001);
  Real z = delay(2*y, 0.001);
  // q jumps from 5 to 6 at the start, right after the initial system is solved, to 7 at 1 s and so on.
  discrete Real k(start = 5, fixed = true);
  Real q = pre(k);
  Real p = delay(q, 0.5);
  // Integrates the delayed jump: its restart is exact.
  Real w(start = 0, fixed = true);
  Boolean arrived = y > 0.5;
  discrete Real at(start = 0, fixed = true);
equation
  der(x) = 1;
  der(w) = y;
  when sample(0, 1) then
    k = pre(k) + 1;
  end when;
  when arrived then
    at = time;
  end when;
  annotation(experiment(StopTime = 4, Tolerance = 1e-6));
end DelayedPieces;
// at t=0.45: p = 5 ± 0 (the value of the initial system)
// at t=0.508: p = 6 ± 0 (the jump at the start, half a second later)
// at t=1.6: p = 7 ± 0 (q of 1.1 s)
// at t=2.496: z = 0 ± 0 (before both delays)
// at t=2.504: z = 2 ± 0 (2.5 s and two delays of 1 ms are over)
// at t=4: at = 2.501 ± 1e-9 (2.5 + 0.001)
// at t=4: w = 1.499 ± 1e-9 (4 - 2.501)
