within Saltus.Examples.E1993;
model Rectifier "Rectifier with load (figure 5)"
  extends Icons.Example;
  Electrical.SineVoltage U0(V = 1, f = 50);
  Electrical.Resistor Ri(R = 10), RL(R = 50);
  Electrical.Capacitor C(C = 0.001, u(start = 0, fixed = true));
  Electrical.DiodeSwitch Diode;
  Electrical.Ground common;
  Units.Voltage y = C.u "Output";
equation
  connect(U0.p, Ri.p);
  connect(Ri.n, Diode.p);
  connect(Diode.n, C.p);
  connect(Diode.n, RL.p);
  connect(C.n, common.p);
  connect(RL.n, common.p);
  connect(U0.n, common.p);
  annotation (experiment(StopTime = 0.1), Documentation(info = "<html><p>The diode is a switch that opens when its current ends and closes when its voltage becomes positive. At each event the model is iterated until the switch does not
change any more. The event log tells which expression became what, what changed and how often it was iterated.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = U0.u), Curve(y = y), Curve(y = Diode.i)})})}));
end Rectifier;
