// Two stiff sources charge a capacitor through ideal diodes: where the sine passes the cosine at π/4, one diode takes over from the other. Both
// together would short the sources.
model DiodesTakeOver
  Real u(start = 1, fixed = true), v1, i1, s1, v2, i2, s2;
  Boolean off1 = s1 < 0, off2 = s2 < 0;
equation
  0.1*der(u) = i1 + i2 - u;
  sin(time) = v1 + u;
  cos(time) = v2 + u;
  v1 = if off1 then s1 else 0;
  i1 = if off1 then 0 else s1;
  v2 = if off2 then s2 else 0;
  i2 = if off2 then 0 else s2;
  annotation(experiment(StopTime = 1.5, Tolerance = 1e-8));
end DiodesTakeOver;
// at t=0.3: u = 0.955336489125606 ± 1e-7 (closed form: cos)
// at t=1.2: u = 0.9320390859672263 ± 1e-7 (closed form: sin)
