// An array of components becomes its elements; each takes its own value of a modifier without `each` (section 7.2.5).
model Element
  parameter Real k = 0;
  parameter Real c = 0;
  Real y = k + c;
end Element;

model ComponentArrays
  Element e[2](k = {1, 2}, each c = 5);
end ComponentArrays;
// balance: 2 equations, 2 unknowns
// flat:
// class ComponentArrays
//   parameter Real e[1].k = 1.0;
//   parameter Real e[1].c = 5.0;
//   Real e[1].y = e[1].k + e[1].c;
//   parameter Real e[2].k = 2.0;
//   parameter Real e[2].c = 5.0;
//   Real e[2].y = e[2].k + e[2].c;
// end ComponentArrays;
