// An ideal diode charges a capacitor with a resistor of 2 across it from sin(t). It conducts from the start, v = sin(t), until its current
// cos(t) + sin(t)/2 is zero at π - atan(2) = 2.0344439357957027. There the voltage across the diode and its derivative are both zero: the second
// derivative decides that it blocks. Then v = sin(2.0344439357957027)*exp(-(t - 2.0344439357957027)/2), until sin(t) is above it again.
model PeakRectifier
  Real s, v, i;
  Real vc(start = 0, fixed = true);
  Boolean off(start = false) = s < 0;
equation
  v = s*(if off then 1 else 0);
  i = s*(if off then 0 else 1);
  v = sin(time) - vc;
  der(vc) = i - vc/2;
  annotation(experiment(StopTime = 8, Tolerance = 1e-9));
end PeakRectifier;
// at t=1: vc = 0.8414709848078965 ± 1e-8 (closed form: sin(1))
// at t=5: vc = 0.2030405009524399 ± 1e-7 (closed form)
// at t=8: vc = 0.9893582466233818 ± 1e-7 (closed form: sin(8))
