// Modifiers of a component win over those of its class, which win over those of the base class (sections 7.1, 7.2).
model Base
  parameter Real k = 1;
  Real x(start = k, fixed = true);
equation
  der(x) = -k*x;
end Base;

model Inheritance
  extends Base(k = 2);
  Base inner1(k = 3, x(start = 5));
  Base inner2;
end Inheritance;
// balance: 3 equations, 3 unknowns
// flat:
// class Inheritance
//   parameter Real k = 2.0;
//   Real x(start = k, fixed = true);
//   parameter Real inner1.k = 3.0;
//   Real inner1.x(start = 5.0, fixed = true);
//   parameter Real inner2.k = 1.0;
//   Real inner2.x(start = inner2.k, fixed = true);
// equation
//   der(x) = -k * x;
//   der(inner1.x) = -inner1.k * inner1.x;
//   der(inner2.x) = -inner2.k * inner2.x;
// end Inheritance;
