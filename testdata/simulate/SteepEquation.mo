// From 1e-300 a Newton step is 1e-297: small beside any nominal value, and no solution.
model SteepEquation
  Real t(start = 1e-300, min = 1e-300);
equation
  log(t/2) = 0.1 + 0*time;
end SteepEquation;
// at t=1: t = 2.2103418361512953 ± 1e-9 (closed form: 2*exp(0.1))
