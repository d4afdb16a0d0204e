model AssertionWithinTolerance
  "The solution is cos(time), but a step may be off by the tolerance: more than the assertion permits"
  Real x(start = 1, fixed = true);
equation
  der(x) = 10*(cos(time) - x) - sin(time);
  assert(abs(x - cos(time)) < 2e-5, "x is cos(time)");
  annotation (experiment(StopTime = 5, Tolerance = 1e-3));
end AssertionWithinTolerance;
// balance: 1 equations, 1 unknowns
// at t=5: x = 0.28366218546322625 ± 2e-5 (closed form: cos(t))
