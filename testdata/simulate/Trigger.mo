model Trigger "A trigger and an integrator make a triangle; the loop of the trigger has three solutions most of the time"
  parameter Real V0 = 10000 "Gain";
  parameter Real R1 = 1, R2 = 1;
  Real x(start = 0, fixed = true), i(start = -0.5), e(start = 0.5), y(start = 1), v1, v2;
equation
  der(x) = -y;
  v2 = R2*i;
  v1 = -R1*i;
  v1 = e - x;
  y = smooth(0, if V0*e > 1 then 1 else if V0*e < -1 then -1 else V0*e);
  v2 = e - y;
  annotation (experiment(StopTime = 40, Interval = 0.1));
end Trigger;
// While y = 1, e = (x + 1)/2, which is above 1/V0 until x = -(1 - 2/V0): a triangle of that amplitude a, with the period 4*a. Rows lie
// within long steps; evaluating them must not lead the loop to another of its solutions.
// at t=2.5: x = 0.5004 ± 1e-3 (closed form: 2.5 - 2*a with a = 0.9998)
// at t=40: x = -0.008 ± 1e-3 (closed form: 40*a - 40)
