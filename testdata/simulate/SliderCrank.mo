// A slider-crank without friction, written with the angle of the rod: closed loop, through both dead centres.
model SliderCrank
  parameter Real r = 0.4 "crank", l = 1 "rod, without mass", m = 2 "slider", J = 0.5 "inertia of the crank";
  Real phi(start = 0.3, fixed = true) "crank", psi "rod", x(start = 1) "slider";
  Real w(start = 5, fixed = true), v, Fx, Fy;
  Real energy = J / 2 * w^2 + m / 2 * v^2;
  Real wOfEnergy = sqrt(2 * energy0 / (J + m * (r * sin(phi) * (1 + r * cos(phi) / sqrt(l^2 - (r * sin(phi))^2)))^2));
  parameter Real energy0 = J / 2 * 25 + m / 2 * (5 * r * sin(0.3) * (1 + r * cos(0.3) / sqrt(l^2 - (r * sin(0.3))^2)))^2;
  Real errorW = w - wOfEnergy, errorX = x - r * cos(phi) - sqrt(l^2 - (r * sin(phi))^2);
equation
  x = r * cos(phi) + l * cos(psi);
  0 = r * sin(phi) - l * sin(psi);
  der(phi) = w;
  der(x) = v;
  m * der(v) = Fx;
  0 = Fx * sin(psi) + Fy * cos(psi);
  J * der(w) = Fx * r * sin(phi) - Fy * r * cos(phi);
  annotation (experiment(StopTime = 10, Tolerance = 1e-8));
end SliderCrank;
// at t=10: errorW = 0 ± 1e-5 (conserved energy and the closed form of the slider's velocity)
// at t=10: errorX = 0 ± 1e-9 (closed form of the slider's position)
// at t=3: errorW = 0 ± 1e-5 (conserved energy)
