model MissingEquation
  Real x;
  Real y;
equation
  x + y = 1;
end MissingEquation;
// balance: 1 equations, 2 unknowns
