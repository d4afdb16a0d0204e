// Two thresholds, one of which is left: x leaves upwards at t0 = asin(1/1.5), where the push is as large as the friction; y stays
// zero before and after, with r = 0.3 + 0.4 s.
model SlidesOnOneLeavesOther
  Real x(start = 0.1, fixed = true), y(start = 0.05, fixed = true);
  Real s = if x > 0 then 1 else -1;
  Real r = if y > 0 then 1 else -1;
equation
  der(x) = 1.5*sin(time) - s;
  der(y) = 0.3 + 0.4*s - r;
  annotation(experiment(StopTime = 2));
end SlidesOnOneLeavesOther;
// at t=0.5: x = 0 ± 1e-9 (closed form)
// at t=0.5: r = 0.5876553231625218 ± 1e-7 (closed form: 0.3 + 0.6 sin 0.5)
// at t=2: x = 0.4719818997975749 ± 1e-5 (closed form: 1.5 (cos t0 - cos 2) - (2 - t0))
// at t=2: y = 0 ± 1e-9 (closed form)
// at t=2: r = 0.7 ± 1e-7 (closed form)
