within Saltus.Examples.E1999;
partial model RectifierCircuit "The circuit of figure 4 without its diode"
  extends Icons.Example;
  Electrical.SineVoltage source(V = 1, f = 50);
  Electrical.Resistor R1(R = 10);
  replaceable Electrical.Diode diode constrainedby Electrical.TwoPin;
  Electrical.Capacitor C(C = 1e-3, u(start = 0, fixed = true));
  Electrical.Resistor R2(R = 50);
  Electrical.Ground ground;
equation
  connect(source.p, R1.p);
  connect(R1.n, diode.p);
  connect(diode.n, C.p);
  connect(diode.n, R2.p);
  connect(C.n, ground.p);
  connect(R2.n, ground.p);
  connect(source.n, ground.p);
end RectifierCircuit;
