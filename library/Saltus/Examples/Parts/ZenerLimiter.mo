within Saltus.Examples.Parts;
model ZenerLimiter "A Zener diode cuts a voltage off"
  extends Icons.Example;
  Electrical.SineVoltage source(V = 10, f = 1);
  Electrical.Resistor R(R = 100);
  Electrical.Zener zener(Vz = 5);
  Electrical.Ground ground;
  Units.Voltage u = -zener.u "Limited voltage";
equation
  connect(source.p, R.p);
  connect(R.n, zener.n);
  connect(zener.p, ground.p);
  connect(source.n, ground.p);
  annotation (experiment(StopTime = 2), Documentation(info = "<html><p>The diode conducts forwards in the negative half of the period and breaks down above 5 V. In between it blocks and the output follows the source. Three branches, one curve.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = source.u), Curve(y = u)})})}));
end ZenerLimiter;
