// What enters at one end leaves at the other end after the time that the medium needs, in all rows: 1 s, at speed 1, then at speed 5.
model TransportedSine
  Real u = sin(time);
  Real y;
  Real left;
  Real fast;
  Real x(start = 0, fixed = true);
  Real z(start = 0, fixed = true);
equation
  (left, y) = spatialDistribution(u, 0, x, true, {0, 1}, {0, 0});
  (, fast) = spatialDistribution(u, 0, z, true, {0, 1}, {0, 0});
  der(x) = 1;
  der(z) = 5;
  annotation(experiment(StopTime = 10, Interval = 0.1));
end TransportedSine;
// at t=1.5: y = 0.479425538604203 ± 2e-5 (closed form: sin(t - 1))
// at t=1.7: y = 0.644217687237691 ± 2e-5 (closed form: sin(t - 1))
// at t=4.3: y = -0.157745694143248 ± 2e-5 (closed form: sin(t - 1))
// at t=9.1: y = 0.969889810845086 ± 2e-5 (closed form: sin(t - 1))
// at t=9.1: left = 0.319098362349352 ± 1e-9 (closed form: sin(t))
// at t=9.1: fast = 0.501020856457885 ± 2e-5 (closed form: sin(t - 0.2))
