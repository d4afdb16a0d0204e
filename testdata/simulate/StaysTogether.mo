// Two masses of 1 and 3 meet at t = 0.5 with speeds 2 and 0 and stay together: 0.5 is the speed of both.
model StaysTogether
  Real x1(start = 0, fixed = true), x2(start = 1, fixed = true);
  Real v1(start = 2, fixed = true), v2(start = 0, fixed = true), f;
  Boolean together(start = false, fixed = true);
equation
  der(x1) = v1;
  der(x2) = v2;
  1*der(v1) = -f;
  3*der(v2) = f;
  when x1 > x2 then
    together = true;
  end when;
  0 = if together then v1 - v2 else f;
  annotation(experiment(StopTime = 1));
end StaysTogether;
// at t=1: v1 = 0.5 ± 1e-12 (momentum)
// at t=1: x1 = 1.25 ± 1e-9 (closed form)
// at t=1: x2 = 1.25 ± 1e-9 (closed form)
