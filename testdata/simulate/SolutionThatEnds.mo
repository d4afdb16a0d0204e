// The solution of a cubic equation ends where its curve turns back; another one goes on, and a state integrates both.
// With time = 1 - x^3 + x the integral of x is x^2/2 - 3*x^4/4. The first part runs from the plastic number 1.324717957244746 to
// 1/sqrt(3), where 1 - 3*x^2 is 0, the second from -2/sqrt(3), which has the same cube minus itself, to -1.324717957244746.
model SolutionThatEnds
  Real x(start = 1);
  Real y(start = 0, fixed = true);
equation
  x^3 - x = 1 - time;
  der(y) = x;
  annotation (experiment(StopTime = 2));
end SolutionThatEnds;
// at t=1: x = 1 ± 1e-9 (1 - 1 = 0)
// at t=2: x = -1.324717957244746 ± 1e-8 (minus the plastic number; the first solution ended at 1 + 2/sqrt(27) = 1.3849)
// at t=2: y = 0.75 ± 1e-5 (closed form above)
