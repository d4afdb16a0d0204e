// A pendulum in Cartesian coordinates that goes over the top: each of x and y is a state for a part of each turn.
// The same pendulum in its angle is the reference: an independent integration of an ordinary differential equation.
model CartesianPendulum
  parameter Real L = 1.5, m = 2, g = 9.81;
  Real x(start = 0, fixed = true), y(start = -1.5), vx(start = 9, fixed = true), vy;
  Real F "force in the rod by length";
  Real phi(start = 0, fixed = true), w(start = 9 / 1.5, fixed = true);
  Real energy = m / 2 * (vx^2 + vy^2) + m * g * y;
  Real errorX = x - L * sin(phi), errorY = y + L * cos(phi), errorV = vx - L * w * cos(phi);
equation
  der(x) = vx;
  der(y) = vy;
  m * der(vx) = -F * x;
  m * der(vy) = -F * y - m * g;
  x^2 + y^2 = L^2;
  der(phi) = w;
  der(w) = -g / L * sin(phi);
  annotation (experiment(StopTime = 10, Tolerance = 1e-9));
end CartesianPendulum;
// at t=10: energy = 51.57 ± 1e-4 (conserved: 2 / 2 * 9^2 - 2 * 9.81 * 1.5)
// at t=10: errorX = 0 ± 1e-4 (the pendulum in its angle)
// at t=10: errorY = 0 ± 1e-4 (the pendulum in its angle)
// at t=10: errorV = 0 ± 1e-3 (the pendulum in its angle)
