model MissingEquation
  Real x;
//     ^ error[E0450]: expected as many equations as unknowns, found 1 equation for 2 unknowns: 1 too few
//       hint: one more equation for `x` and `y` is missing
  Real y;
equation
  x + y = 1;
end MissingEquation;
// balance: 1 equations, 2 unknowns
