// Signs that are multiplied: s (1 - 0.5 r) = 0.1 and r (1 - 0.3 s) = 0.2 on both thresholds, that is 0.5 r² - 1.07 r + 0.2 = 0.
// Filippov's inclusion leaves the combination open; products of ramps have this limit (Dieci and Lopez 2011, bilinear interpolation).
model SlidesWithProduct
  Real x(start = 0.5, fixed = true), y(start = 0.3, fixed = true);
  Real s = if x > 0 then 1 else -1;
  Real r = if y > 0 then 1 else -1;
equation
  der(x) = -s + 0.5*r*s + 0.1;
  der(y) = -r + 0.3*r*s + 0.2;
  annotation(experiment(StopTime = 5));
end SlidesWithProduct;
// at t=5: x = 0 ± 1e-9 (closed form)
// at t=5: y = 0 ± 1e-9 (closed form)
// at t=5: r = 0.20692410530707095 ± 1e-8 (closed form: 1.07 - sqrt(1.07² - 0.4))
// at t=5: s = 0.11154017551178488 ± 1e-8 (closed form: 0.1/(1 - 0.5 r))
