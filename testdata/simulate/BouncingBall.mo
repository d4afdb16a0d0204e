model BouncingBall "A ball that loses energy at every impact"
  constant Real g(unit = "m/s2") = 9.81 "Acceleration of gravity";
  parameter Real e = 0.7 "Part of the speed that is left after an impact";
  Real h(unit = "m", start = 1, fixed = true) "Height above the ground";
  Real v(unit = "m/s", start = 0, fixed = true) "Speed upwards";
  discrete Integer n(start = 0, fixed = true) "Impacts so far";
equation
  der(h) = v;
  der(v) = -g;
  when h <= 0 and v < 0 then
    reinit(v, -e*pre(v));
    n = pre(n) + 1;
  end when;
  annotation(experiment(StopTime = 1.5));
end BouncingBall;
// balance: 3 equations, 3 unknowns
// Impacts at t1 = sqrt(2*h0/g), then each flight takes 2*e times as long as the one before; between them h is a parabola.
// events: 0.451523641, 1.083656738 (closed form)
// at t=1: h = 0.2250597607190341 ± 1e-6 (closed form: v1 = e*g*t1, h = v1*(t - t1) - g*(t - t1)^2/2)
// at t=1: v = -2.279940239280967 ± 1e-6 (closed form)
// at t=1.5: h = 0.05340238983353707 ± 1e-6 (closed form, after the second impact)
// at t=1.5: n = 2 ± 0 (closed form: the third impact is at 1.526)
