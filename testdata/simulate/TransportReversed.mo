model TransportReversed "The flow turns back smoothly: what entered last leaves first, and where it turns the value is not a smooth function of the place"
  Real x(start = 0, fixed = true);
  Real v = cos(time);
  Real out0, out1;
equation
  der(x) = v;
  (out0, out1) = spatialDistribution(time, 0, x, v >= 0, {0.0, 1.0}, {0.0, 0.0});
  annotation (experiment(StopTime = 3, Tolerance = 1e-10));
end TransportReversed;
// at t=1: out0 = 1 ± 1e-6 (closed form: what enters)
// at t=1.58: out0 = 1.5615926535897931 ± 1e-6 (closed form: pi - t)
// at t=1.7: out0 = 1.4415926535897932 ± 1e-7 (closed form: pi - t)
// at t=2.5: out0 = 0.6415926535897931 ± 1e-7 (closed form: pi - t)
// at t=2.5: out1 = 0 ± 1e-12 (closed form: what enters)
