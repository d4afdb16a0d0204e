// A profile that enters a pipe of length 1 at speed 1 leaves it a second later.
model Pipeline
  Real x(start = 0, fixed = true);
  Real entering = sin(time);
  Real atStart, atEnd;
equation
  der(x) = 1;
  (atStart, atEnd) = spatialDistribution(entering, 0, x, true, {0, 1}, {0, 0});
  annotation(experiment(StopTime = 3, Tolerance = 1e-8));
end Pipeline;
// at t=0.5: atEnd = 0 ± 1e-6 (the initial profile)
// at t=2: atStart = 0.909297426825682 ± 1e-9 (sin(2), at once)
// at t=2.5: atEnd = 0.997494986604054 ± 1e-5 (sin(1.5))
