model TransportThroughJump "An initial profile with a jump leaves at the other end; the velocity varies"
  Real x(start = 5, fixed = true), w(start = 0, fixed = true);
  Real out0, out1;
equation
  der(x) = 0.5 + time;
  der(w) = out1;
  (out0, out1) = spatialDistribution(7, 0, x, true, {0.0, 0.4, 0.4, 1.0}, {2.0, 2.0, 3.0, 3.0});
  annotation (experiment(StopTime = 1.5, Tolerance = 1e-9));
end TransportThroughJump;
// events: 0.704159458, 1.000000000 (closed form: t/2 + t^2/2 is 0.6, and 1)
// at t=0.7: out1 = 3 ± 1e-12 (closed form)
// at t=0.71: out1 = 2 ± 1e-12 (closed form)
// at t=1.5: out1 = 7 ± 1e-12 (closed form: what entered at 0)
// at t=1.5: w = 6.204159457879230 ± 1e-8 (closed form: 3*0.704… + 2*(1 - 0.704…) + 7*0.5)
