// A threshold that is not a plane: outside of the unit circle r falls as 2 exp(-t), at an angular speed of 1.5; it arrives at ln 2. On the
// circle the mean angular speed is 1: phi = t + 0.5 ln 2.
model SlidesOnCircle
  Real x(start = 2, fixed = true), y(start = 0, fixed = true);
  Real s = if x^2 + y^2 > 1 then 1 else -1;
equation
  der(x) = -(1 + 0.5*s)*y - s*x;
  der(y) = (1 + 0.5*s)*x - s*y;
  annotation(experiment(StopTime = 20, Tolerance = 1e-8));
end SlidesOnCircle;
// at t=20: x = 0.0737117431581489 ± 1e-6 (closed form: cos(20 + 0.5 ln 2))
// at t=20: y = 0.9972795891426772 ± 1e-6 (closed form: sin(20 + 0.5 ln 2))
