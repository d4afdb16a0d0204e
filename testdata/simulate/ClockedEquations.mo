// A clocked `when` holds equations of any form, not only assignments (specification 16.6).
model ClockedEquations
  Real x;
  Real y;
  Real z(start = 0);
  Real u;
equation
  when Clock(0.1) then
    u = sample(time);
    x + y = 3*u;
    x - y = u;
    z = previous(z) + x;
  end when;
end ClockedEquations;
// at t=1: x = 2 ± 1e-9 (closed form: 2*u)
// at t=1: y = 1 ± 1e-9 (closed form: u)
// at t=1: z = 11 ± 1e-9 (closed form: 0.2*(1 + … + 10))
