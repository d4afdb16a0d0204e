// A coil fed through an ideal diode by sin(t) - 0.5: it conducts from sin(t) = 0.5 at π/6 until its current
// cos(π/6) - cos(t) - 0.5*(t - π/6) is zero again, and then with the next period.
model ConductsInPulses
  Real s, v, i;
  Real il(start = 0, fixed = true);
  Boolean off(start = true) = s < 0;
equation
  v = s*(if off then 1 else 0);
  i = s*(if off then 0 else 1);
  i = il;
  sin(time) - 0.5 = der(il) + v;
  annotation(experiment(StopTime = 8, Tolerance = 1e-9));
end ConductsInPulses;
// at t=0.3: il = 0 ± 1e-12 (closed form)
// at t=0.3: v = -0.20447979333866042 ± 1e-9 (closed form: sin(0.3) - 0.5)
// at t=3: il = 0.6178172881840334 ± 1e-7 (closed form)
// at t=6: il = 0 ± 1e-12 (closed form)
// at t=8: il = 0.41491747898199494 ± 1e-7 (closed form)
