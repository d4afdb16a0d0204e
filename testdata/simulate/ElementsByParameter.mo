// Elements that a parameter selects are set in a when-clause (specification 8.3.5, 8.3.6); `pure` of an impure call (12.3).
model ElementsByParameter
  impure function three
    output Real y;
  algorithm
    y := 3;
  end three;
  parameter Integer k = 2;
  Real y[3](each start = 1, each fixed = true);
  discrete Real z[3](each start = 0, each fixed = true);
  Real p = pure(three())*time;
equation
  der(y) = -y;
  when time > 0.5 then
    reinit(y[k], 3);
    z[k] = time;
    z[k + 1] = 2*time;
    z[k - 1] = pure(three());
  end when;
end ElementsByParameter;
// at t=1: y[1] = 0.36787944117144233 ± 1e-5 (closed form: exp(-t))
// at t=1: y[2] = 1.8195919791379003 ± 1e-5 (closed form: 3*exp(0.5 - t))
// at t=1: z[1] = 3 ± 0 (the value of the call)
// at t=1: z[2] = 0.5 ± 1e-9 (the time of the event)
// at t=1: z[3] = 1 ± 1e-9 (twice that)
// at t=1: p = 3 ± 1e-12 (closed form: 3*t)
