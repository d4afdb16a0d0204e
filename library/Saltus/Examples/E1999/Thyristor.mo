within Saltus.Examples.E1999;
model Thyristor "Phase control with a thyristor (figure 8)"
  extends Icons.Example;
  Electrical.SineVoltage source(V = 10, f = 1);
  Electrical.Thyristor thyristor;
  Electrical.Resistor load(R = 5);
  Electrical.Ground ground;
  Blocks.BooleanPulse gate(period = 1, width = 0.05, startTime = 1/6);
equation
  connect(source.p, thyristor.p);
  connect(thyristor.n, load.p);
  connect(load.n, ground.p);
  connect(source.n, ground.p);
  connect(gate.y, thyristor.fire);
  annotation (experiment(StopTime = 2.5), Documentation(info = "<html><p>The thyristor blocks until it is fired at 60 degrees. It then conducts, also without the gate, until its current vanishes at 180 degrees. Which branch of the curve it is on
depends on where it was before.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = source.u), Curve(y = load.u), Curve(y = gate.y)})})}));
end Thyristor;
