// A connection set gives one equality for each further potential and one sum for the flows; a flow that is connected
// nowhere is zero (section 9.2).
connector Pin
  Real v;
  flow Real i;
end Pin;

model Resistor
  parameter Real R = 1;
  Pin p;
  Pin n;
equation
  p.i + n.i = 0;
  p.v - n.v = R*p.i;
end Resistor;

model Ground
  Pin p;
equation
  p.v = 0;
end Ground;

model Connections
  Resistor a;
  Resistor b(R = 2);
  Ground ground;
equation
  connect(a.n, b.p);
  connect(a.p, ground.p);
end Connections;
// balance: 10 equations, 10 unknowns
