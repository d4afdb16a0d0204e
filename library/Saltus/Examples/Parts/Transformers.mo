within Saltus.Examples.Parts;
model Transformers "An ideal transformer and two coupled inductors"
  extends Icons.Example;
  Electrical.SineVoltage source(V = 10, f = 1);
  Electrical.IdealTransformer ideal(n = 2);
  Electrical.Resistor load1(R = 5);
  Electrical.ConstantVoltage step(V = 1);
  Electrical.Resistor R1(R = 1), R2(R = 1);
  Electrical.Transformer coupled(L1 = 1, L2 = 1, M = 0.5);
  Electrical.Ground ground;
equation
  connect(source.p, ideal.p1);
  connect(source.n, ideal.n1);
  connect(ideal.p2, load1.p);
  connect(ideal.n2, load1.n);
  connect(source.n, ground.p);
  connect(load1.n, ground.p);
  connect(step.p, R1.p);
  connect(R1.n, coupled.p1);
  connect(coupled.n1, ground.p);
  connect(step.n, ground.p);
  connect(coupled.p2, R2.p);
  connect(R2.n, ground.p);
  connect(coupled.n2, ground.p);
  annotation (experiment(StopTime = 5, Tolerance = 1e-8), Documentation(info = "<html><p>The ideal transformer halves the voltage and doubles the current. The coupled inductors answer a constant voltage with a current that settles and one in the other winding that comes and
goes. Both have closed forms.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = source.u), Curve(y = load1.u), Curve(y = coupled.i1), Curve(y = coupled.i2)})})}));
end Transformers;
