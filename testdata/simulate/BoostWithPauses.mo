// A step-up converter with ideal switch and ideal diode in discontinuous conduction.
model BoostWithPauses
  parameter Real L = 1e-4, C = 1e-4, R = 200, U = 12, T = 1e-4, d = 0.3;
  Real i(start = 0, fixed = true), v(start = 20, fixed = true), uS, uD, iS, iD, s;
  Boolean on = mod(time, T) < d*T;
  Boolean off = s < 0;
equation
  L*der(i) = U - uS;
  C*der(v) = iD - v/R;
  uS = uD + v;
  iS + iD = i;
  0 = if on then uS else iS;
  uD = if off then s else 0;
  iD = if off then 0 else s;
  annotation(experiment(StopTime = 1e-3, Tolerance = 1e-9));
end BoostWithPauses;
// at t=0.92e-3: i = 2.4 ± 1e-6 (closed form: U/L times 20 µs)
// at t=0.92e-3: v = 24.584148784863874 ± 1e-5 (piecewise integration by DOP853 of SciPy, tolerance 1e-12)
// at t=0.99e-3: i = 0 ± 1e-12 (the diode blocks)
// at t=0.99e-3: v = 25.00270469500554 ± 1e-5 (piecewise integration)
