model SampledSteadyState "Starts in the steady state of a sampled controller: what its integrator has summed up before is unknown together with Reals"
  parameter Real k = 2, Ti = 0.5, Ts = 0.1, r = 3;
  Real x, y;
  discrete Real u, e, I;
equation
  der(x) = -x + y;
  der(y) = -2*y + u + 0.5;
  when {initial(), sample(Ts, Ts)} then
    e = r - x;
    I = pre(I) + Ts/Ti*e;
    u = k*(e + I);
  end when;
initial equation
  pre(I) = I;
  der(x) = 0;
  der(y) = 0;
end SampledSteadyState;
// at t=0: x = 3 ± 1e-9 (closed form: e = 0, so x = r and y = x, u = 2 y - 0.5)
// at t=0: I = 2.75 ± 1e-9 (closed form: u/k)
// at t=1: x = 3 ± 1e-9 (closed form: nothing moves)
// at t=1: I = 2.75 ± 1e-9 (closed form)
