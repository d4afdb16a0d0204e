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
