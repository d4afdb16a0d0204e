// An ideal switch opens a coil at 1 and closes it again at 2: i = 1 - exp(-t), 0, then 1 - exp(-(t - 2)).
model OpensCoil
  Real i(start = 0, fixed = true), u;
  Boolean open = time >= 1 and time < 2;
equation
  1 = i + der(i) + u;
  0 = if open then i else u;
  annotation(experiment(StopTime = 3, Tolerance = 1e-10));
end OpensCoil;
// at t=0.5: i = 0.3934693402873666 ± 1e-9 (closed form: 1 - exp(-0.5))
// at t=1.5: i = 0 ± 0 (open)
// at t=1.5: u = 1 ± 1e-12 (open)
// at t=3: i = 0.6321205588285577 ± 1e-9 (closed form: 1 - exp(-1))
