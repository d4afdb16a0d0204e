// Two masses with relay friction of 1 that come to rest at different instants: each stays where it is, whatever the other one does.
// v1 = 1 - t + 0.1 (1 - cos 3t), v2 = 2 - t + 0.25 (1 - cos 2t) until they are zero; then friction is the push on each.
model SlidesOnTwo
  Real v1(start = 1, fixed = true), v2(start = 2, fixed = true);
  Real f1 = if v1 > 0 then 1 else -1;
  Real f2 = if v2 > 0 then 1 else -1;
equation
  der(v1) = 0.3*sin(3*time) - f1;
  der(v2) = 0.5*sin(2*time) - f2;
  annotation(experiment(StopTime = 10));
end SlidesOnTwo;
// at t=0.5: v1 = 0.5929262798332297 ± 1e-6 (closed form)
// at t=5: v1 = 0 ± 1e-9 (closed form: at rest)
// at t=10: v1 = 0 ± 1e-9 (closed form: at rest)
// at t=10: v2 = 0 ± 1e-9 (closed form: at rest)
// at t=10: f1 = -0.29640948722785854 ± 1e-7 (closed form: 0.3 sin 30)
// at t=10: f2 = 0.45647262536381383 ± 1e-7 (closed form: 0.5 sin 20)
