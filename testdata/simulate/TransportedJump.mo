model TransportedJump "A jump enters, turns back with the flow and leaves with an event, at the same end"
  Real x(start = 0, fixed = true), w(start = 0, fixed = true);
  Real v = if time < 0.8 then 1 else -1;
  Real in0 = sin(3*time) + (if time > 0.4 then 1 else 0);
  Real out0, out1;
equation
  der(x) = v;
  der(w) = if time < 0.8 then 0 else out0;
  (out0, out1) = spatialDistribution(in0, 0, x, v >= 0, {0.0, 1.0}, {0.0, 0.0});
  annotation (experiment(StopTime = 2, Tolerance = 1e-9));
end TransportedJump;
// events: 0.4, 0.8, 1.2 (closed form: the jump of 0.4 leaves as long after 0.8 as it entered before)
// at t=1.1: out0 = 1.9974949866040545 ± 1e-8 (closed form: in0(1.6 - t))
// at t=1.3: out0 = 0.7833269096274834 ± 1e-8 (closed form: in0(1.6 - t))
// at t=1.59: out0 = 0.029995500202495660 ± 1e-8 (closed form: in0(1.6 - t))
// at t=1.9: out0 = 0 ± 1e-12 (closed form: the profile at the start)
// at t=1.6: w = 0.9791312385137521 ± 1e-7 (closed form: the integral of in0 from 0 to 0.8)
