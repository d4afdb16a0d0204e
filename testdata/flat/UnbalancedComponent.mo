// The law of the resistor is missing: the component is named, with its class and its own numbers, where the model declares it.
connector Pin
  Real v;
  flow Real i;
end Pin;
model Resistor
  Pin p, n;
  Real v;
equation
  v = p.v - n.v;
  p.i + n.i = 0;
end Resistor;
model Source
  Pin p, n;
equation
  p.v - n.v = 1;
  p.i + n.i = 0;
end Source;
model Ground
  Pin p;
equation
  p.v = 0;
end Ground;
model UnbalancedComponent
  Source s;
  Resistor r1, r2;
//         ^^ error[E0450]: expected as many equations as unknowns, found 14 equations for 16 unknowns: 2 too few
//            hint: components `r1` and `r2` of class `Resistor` have 4 equations for 5 unknowns each
//            hint: one more equation for `s.p.i`, `s.n.i`, `r1.p.i`, `r1.n.v`, `r1.n.i` and 6 more is missing
  Ground g;
equation
  connect(s.p, r1.p);
  connect(r1.n, r2.p);
  connect(r2.n, s.n);
  connect(s.n, g.p);
end UnbalancedComponent;
