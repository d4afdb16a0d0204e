// Along the curve in which a sphere and a plane meet: at z = 0.5 on the unit sphere the mean of s is zero and that of r is 0.15,
// while x and y turn at a speed of 1 on a circle of radius sqrt(0.75).
model SlidesOnCurve
  Real x(start = 1.5, fixed = true), y(start = 0, fixed = true), z(start = 0.2, fixed = true);
  Real s = if x^2 + y^2 + z^2 > 1 then 1 else -1;
  Real r = if z > 0.5 then 1 else -1;
equation
  der(x) = -y - s*x;
  der(y) = x - s*y;
  der(z) = 0.3 - 2*r - s*z;
  annotation(experiment(StopTime = 12, Tolerance = 1e-8));
end SlidesOnCurve;
// at t=12: z = 0.5 ± 1e-9 (closed form)
// at t=12: r = 0.15 ± 1e-6 (closed form)
// at t=12: s = 0 ± 1e-6 (closed form)
// at t=12: x = 0.7307989653464035 ± 1e-6 (closed form: sqrt(0.75)*cos(12))
// at t=12: y = -0.46468577797112115 ± 1e-6 (closed form: sqrt(0.75)*sin(12))
