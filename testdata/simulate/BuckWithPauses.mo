// A step-down converter with ideal switch and ideal diode in discontinuous conduction: while neither conducts the current of the coil is
// zero, which no position of one of them alone says.
model BuckWithPauses
  parameter Real L = 1e-3, C = 1e-4, R = 50, U = 12, T = 1e-3, d = 0.3;
  Real i(start = 0, fixed = true), v(start = 0, fixed = true), uS, uD, iS, iD, s;
  Boolean on = mod(time, T) < d*T;
  Boolean off = s < 0;
equation
  L*der(i) = uD - v;
  C*der(v) = i - v/R;
  U = uS + uD;
  iS + iD = i;
  0 = if on then uS else iS;
  -uD = if off then s else 0;
  iD = if off then 0 else s;
  annotation(experiment(StopTime = 5e-3, Tolerance = 1e-9));
end BuckWithPauses;
// at t=0.25e-3: i = 2.7008307072185556 ± 1e-6 (piecewise integration by DOP853 of SciPy, tolerance 1e-12)
// at t=4.2e-3: i = 0.6373858429499318 ± 1e-6 (the same)
// at t=4.9e-3: i = 0 ± 1e-12 (the diode blocks)
// at t=4.9e-3: v = 8.934663645318869 ± 1e-6 (piecewise integration)
