model SampledFilters "Two sums in a loop with states, and a Boolean that follows from them"
  Real x, y;
  discrete Real I, J, u;
  discrete Boolean high;
equation
  der(x) = -x + u;
  der(y) = x - 3*y;
  when {initial(), sample(0.1, 0.1)} then
    I = pre(I) + 0.1*(1 - x);
    J = 0.5*pre(J) + y;
    u = I + 0.2*J;
    high = u > 0.5;
  end when;
initial equation
  der(x) = 0;
  der(y) = 0;
  pre(I) = I;
  pre(J) = J;
end SampledFilters;
// at t=0: x = 1 ± 1e-9 (closed form: I rests where x = 1; u = x)
// at t=0: J = 0.6666666666666666 ± 1e-9 (closed form: J = J/2 + y, y = 1/3)
// at t=0: I = 0.8666666666666667 ± 1e-9 (closed form: u - J/5)
// at t=1: high = 1 ± 0 (closed form)
// at t=1: x = 1 ± 1e-9 (closed form)
