// Three tanks whose levels become equal, one after the other: the root of each flow ends at its own threshold.
model LevelTanks
  Real h1(start = 1.78, fixed = true), h2(start = 2.41, fixed = true), h3(start = 0.3, fixed = true);
  Real q, r;
equation
  q = if h1 >= h2 then sqrt(h1 - h2) else -sqrt(h2 - h1);
  r = 0.7*(if h2 >= h3 then sqrt(h2 - h3) else -sqrt(h3 - h2));
  der(h1) = -q;
  der(h2) = (q - r)/0.5;
  der(h3) = r/2;
  annotation(experiment(StopTime = 20));
end LevelTanks;
// at t=20: h1 = 1.0242857142857142 ± 1e-6 (conserved: (1.78 + 0.5·2.41 + 2·0.3)/3.5)
// at t=20: h2 = 1.0242857142857142 ± 1e-6 (conserved)
// at t=20: h3 = 1.0242857142857142 ± 1e-6 (conserved)
