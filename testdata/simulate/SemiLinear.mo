// semiLinear is smooth(0, …): no event where its first argument changes sign.
model SemiLinear
  Real x(start = 1, fixed = true);
  Real y(start = 0, fixed = true);
  Real z(start = 0, fixed = true);
equation
  der(x) = -2;
  der(y) = semiLinear(x, 1, 3);
  der(z) = 1;
  when time >= 0.25 then
    reinit(z, 2);
  end when;
  annotation (experiment(StopTime = 1));
end SemiLinear;
// at t=1: y = -0.5 ± 1e-3 (closed form: 1/4 - 3/4; the tolerance is not kept at a kink that is not an event)
// at t=1: z = 2.75 ± 1e-9 (closed form)
// events: 0.25 (the time of the clause)
