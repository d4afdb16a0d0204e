// Linearised again at small distances, a linear model follows the nonlinear one; `excursion` counts in nominal values. What comes from outside
// stays as it is. x2 = 2/(1 + 2 t); x1 x2' = x2 x1' for u = 0, so x1 = 1/(1 + 2 t)*…: compared with the nonlinear model in the same run.
model LinearisedAgain
  function excursion
    input Real state;
    output Real distance;
  external "builtin" distance = excursion(state);
  end excursion;
  model P
    input Real u;
    Real x[2](start = {1, 2}, each fixed = true, each nominal = 10), z(start = 1);
  equation
    z + z^3 = x[1] + u;
    der(x[1]) = -x[1]*x[2] + z;
    der(x[2]) = -x[2]^2;
  end P;
  Real w(start = 0, fixed = true);
  P p(u = w^2) annotation (__Saltus(linearized = true));
  P q(u = w^2);
  Real error = abs(p.x[1] - q.x[1]) + abs(p.x[2] - q.x[2]) + abs(p.u - time^2) + abs(p.z - q.z);
equation
  der(w) = 1;
  initialState(p);
  transition(p, p, excursion(p) > 0.0002);
end LinearisedAgain;
// at t=1: error = 0 ± 2e-5 (the nonlinear model)
// at t=1: p.x[2] = 0.6666666666666666 ± 1e-5 (closed form)
