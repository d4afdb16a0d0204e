model StartsOnTheCircle "A constraint that cannot be solved for one of its candidates at the start"
  Real u(start = 2), w(start = 0), p, q, lambda;
  Real a(start = 0), b(start = 2), c, d, mu;
equation
  u^2 + w^2 = 4;
  der(u) = p;
  der(w) = q;
  der(p) = -lambda*u;
  der(q) = -lambda*w + 1;
  a^2 + b^2 = 4;
  der(a) = c;
  der(b) = d;
  der(c) = -mu*a + 1;
  der(d) = -mu*b;
  annotation(experiment(StopTime = 2, Tolerance = 1e-8));
end StartsOnTheCircle;
// A bead of mass 1 on a circle of radius 2, at rest at the point (2, 0), pulled by a force of 1 along the second axis: with u = 2*cos(phi), w = 2*sin(phi)
// der(der(phi)) = cos(phi)/2, and the energy (der(u)^2 + der(w)^2)/2 = w. Start values that a constraint cannot be solved for are taken as given, with
// their derivatives: here w = 0 and der(w) = 0. The other bead is the same with the axes exchanged.
// at t=2: u = 1.13350288 ± 1e-6 (the equation for phi by the Runge-Kutta method of order 4, 20 000 steps)
// at t=2: w = 1.64777766 ± 1e-6 (the same)
// at t=2: a = 1.64777766 ± 1e-6 (the same)
// at t=2: b = 1.13350288 ± 1e-6 (the same)
