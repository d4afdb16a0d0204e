model TransportOscillates "The flow turns back twice; jumps leave at both ends, whether anything depends on them or not"
  Real x(start = 0, fixed = true);
  Real v = 1.4*cos(2*time) + 0.1;
  Real out0, out1;
equation
  der(x) = v;
  (out0, out1) = spatialDistribution(2 + sin(time), -1 - cos(3*time), x, v >= 0, {0.0, 0.3, 0.3, 1.0}, {0.0, 0.5, 1.0, -0.5});
  annotation (experiment(StopTime = 2.2, Tolerance = 1e-10));
end TransportOscillates;
// at t=0.3: out1 = 0.4112494243782674 ± 1e-8 (closed form: the initial profile at 1 - x, x = 0.7 sin(2 t) + 0.1 t)
// at t=0.583: out1 = 0.4971202659735171 ± 1e-8 (closed form: the jump at 0.3 has left at 0.5803610986849)
// at t=1.2: out0 = 2.434497445107245 ± 1e-8 (closed form: what entered at 0 when x was the same)
// at t=1.6: out0 = 2.07965600755062 ± 1e-8 (closed form: the same)
// at t=1.696: out0 = 0.006431725333456567 ± 1e-8 (closed form: the initial profile at -x, since 1.6929309220850)
// at t=1.8: out0 = 0.2162738505106612 ± 1e-8 (closed form: the initial profile at -x)
// at t=2.1: out0 = -0.09332844341582192 ± 1e-8 (closed form: what entered at 1 when x was larger by 1)
