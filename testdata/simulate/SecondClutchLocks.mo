// The jump of a clutch that locks makes a second one lock in the same instant.
model SecondClutchLocks
  Real w1(start = 10, fixed = true), w2(start = 0, fixed = true), w3(start = 2.5, fixed = true), t1, t2;
  Boolean l1 = time >= 1, l2(start = false, fixed = true);
equation
  der(w1) = -t1;
  der(w2) = t1 - t2;
  der(w3) = t2;
  if l1 then w1 = w2; else t1 = 0; end if;
  when w2 > w3 then l2 = true; end when;
  if l2 then w2 = w3; else t2 = 0; end if;
  annotation(experiment(StopTime = 2, Tolerance = 1e-8));
end SecondClutchLocks;
// at t=0.5: w1 = 10 ± 1e-12 (closed form)
// at t=2: w1 = 4.166666666666667 ± 1e-12 (momentum: 12.5/3)
// at t=2: w3 = 4.166666666666667 ± 1e-12 (momentum)
