// An ideal diode keeps the voltage of a capacitor from becoming negative: der(v) = sin(t) - 0.2 while v > 0, which it leaves at
// asin(0.2) = 0.2013579207903308. From there v = cos(0.2013579207903308) - cos(t) - 0.2*(t - 0.2013579207903308), which is zero again
// at 4.777082790033. The diode then carries 0.2 - sin(t), until sin(t) = 0.2 again at 2π + 0.2013579207903308.
model DiodeAcrossCapacitor
  Real s, v, i;
  Real vc(start = 0, fixed = true);
  Boolean off(start = true) = s < 0;
equation
  v = s*(if off then 1 else 0);
  i = s*(if off then 0 else 1);
  v = -vc;
  der(vc) = sin(time) - 0.2 + i;
  annotation(experiment(StopTime = 8, Tolerance = 1e-9));
end DiodeAcrossCapacitor;
// at t=0.1: i = 0.10016658335317185 ± 1e-9 (closed form: 0.2 - sin(0.1))
// at t=3: vc = 1.4100599778717826 ± 1e-8 (closed form)
// at t=6: vc = 0 ± 1e-9 (closed form)
// at t=6: i = 0.479415498198926 ± 1e-9 (closed form: 0.2 - sin(6))
// at t=8: vc = 0.8222045765158683 ± 1e-8 (closed form)
