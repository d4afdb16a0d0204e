// Derivatives of delays: written as such, of a delay that varies, of second order, and by a constraint between states.
model DelayedDerivatives
  Real x = time*time;
  Real fixed = der(delay(x, 0.5));
  Real before = der(delay(cos(time), 2.0)) "The past before the start is constant";
  Real T = 0.1 + 0.1*time;
  Real varying = der(delay(x, T, 1.0));
  Real z = delay(x, 0.5);
  Real v = der(z);
  Real second = der(v);
  Real s(start = 0, fixed = true);
equation
  der(s) = 3*v;
end DelayedDerivatives;
// at t=0.25: fixed = 0 ± 1e-12 (constant before the start)
// at t=0.25: second = 0 ± 1e-12 (constant before the start)
// at t=1: fixed = 1 ± 1e-6 (closed form: 2(t - 0.5))
// at t=1: v = 1 ± 1e-6 (closed form: 2(t - 0.5))
// at t=1: second = 2 ± 1e-6 (closed form)
// at t=1: before = 0 ± 1e-12 (constant before the start)
// at t=1: varying = 1.44 ± 1e-6 (closed form: x at t - T is the square of 0.9 t - 0.1)
// at t=1: s = 0.75 ± 1e-5 (closed form: three times the square of t - 0.5)
