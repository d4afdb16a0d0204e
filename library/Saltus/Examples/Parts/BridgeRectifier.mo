within Saltus.Examples.Parts;
model BridgeRectifier "Four diodes and a load"
  extends Icons.Example;
  Electrical.SineVoltage source(V = 10, f = 1);
  Electrical.DiodeBridge bridge(Ron = 1e-3, Goff = 1e-6);
  Electrical.Resistor load(R = 5);
  Electrical.Ground ground;
equation
  connect(source.p, bridge.a);
  connect(source.n, bridge.b);
  connect(bridge.p, load.p);
  connect(bridge.n, load.n);
  connect(ground.p, bridge.n);
  annotation (experiment(StopTime = 2), Documentation(info = "<html><p>Two diodes conduct in each half of the period. All four switch in the same event. The load sees the absolute value of the voltage, less what two diodes keep.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = source.u), Curve(y = load.u)})})}));
end BridgeRectifier;
