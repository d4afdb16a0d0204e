// A Boolean that depends on both thresholds. With shares w of the positive sides, 1 - 2 w + 0.25 w v = 0 and 1 - 2 v + 0.25 w v = 0:
// by symmetry 0.25 w² - 2 w + 1 = 0, w = 4 - sqrt(12), of which c has the part w².
model SlidesWithConjunction
  Real x(start = 0.5, fixed = true), y(start = 0.3, fixed = true), q(start = 0, fixed = true);
  Boolean a = x > 0, b = y > 0, c = a and b;
equation
  der(x) = (if a then -1 else 1) + (if c then 0.25 else 0);
  der(y) = (if b then -1 else 1) + (if c then 0.25 else 0);
  der(q) = if c then 1 else 0;
  annotation(experiment(StopTime = 5));
end SlidesWithConjunction;
// at t=5: x = 0 ± 1e-9 (closed form)
// at t=5: y = 0 ± 1e-9 (closed form)
// at t=5: der(q) = 0.28718707889796063 ± 1e-8 (closed form: (4 - sqrt(12))²)
