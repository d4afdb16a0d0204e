// A clutch that locks two shafts at once. Angular momentum is conserved: (1*11 + 3*2)/4 = 4.25; then both turn by 4.25*0.5 more
// than 5.5 and 1. It opens again at 1, with a torque of 2 on the first shaft from 1.5 on: 4.25 + 2*0.5.
model LocksRigidly
  Real phi1(start = 0, fixed = true), phi2(start = 0, fixed = true);
  Real w1(start = 11, fixed = true), w2(start = 2, fixed = true);
  Real tau;
  discrete Real offset(start = 0, fixed = true);
  Boolean locked = time >= 0.5 and time < 1;
equation
  der(phi1) = w1;
  der(phi2) = w2;
  1*der(w1) = (if time > 1.5 then 2 else 0) - tau;
  3*der(w2) = tau;
  when locked then
    offset = pre(phi1) - pre(phi2);
  end when;
  if locked then
    phi1 = phi2 + offset;
  else
    tau = 0;
  end if;
  annotation(experiment(StopTime = 2));
end LocksRigidly;
// at t=0.4: w1 = 11 ± 1e-12 (closed form)
// at t=0.9: w1 = 4.25 ± 1e-12 (momentum)
// at t=0.9: w2 = 4.25 ± 1e-12 (momentum)
// at t=1: phi1 = 7.625 ± 1e-9 (closed form)
// at t=1: phi2 = 3.125 ± 1e-9 (closed form)
// at t=2: w1 = 5.25 ± 1e-9 (closed form)
// at t=2: w2 = 4.25 ± 1e-9 (closed form)
