// Both variables are fixed and the constraint leaves room for one of them: the other is checked, and it holds.
model SurplusStart
  parameter Real ratio = 2;
  Real x(start = 1, fixed = true), y(start = 2, fixed = true);
equation
  y = ratio * x;
  der(x) + der(y) = -3 * x;
  annotation (experiment(StopTime = 1));
end SurplusStart;
// at t=1: x = 0.36787944 ± 1e-5 (closed form: 3 der(x) = -3 x)
