within Saltus.Examples.Parts;
model Commutation "Six diodes pass a constant current on to each other"
  extends Icons.Example;
  parameter Units.Voltage V = 100 "Amplitude of a phase";
  parameter Units.Frequency f = 50 "Frequency";
  parameter Units.Inductance L = 1e-3 "Of a phase";
  parameter Units.Current Id = 20 "Current of the load";
  Electrical.SineVoltage source[3](each V = V, each f = f, phase = {0, -2*Units.pi/3, 2*Units.pi/3});
  Electrical.Inductor inductor[3](each L = L, i(each start = 0, fixed = {true, true, false}));
  Electrical.ThreePhaseBridge bridge;
  Electrical.ConstantCurrent load(I = Id);
  Electrical.Ground ground;
  Units.Voltage ud = bridge.p.v - bridge.n.v "Direct voltage";
  Real integral(start = 0, fixed = true) "Of the direct voltage";
equation
  for k in 1:3 loop
    connect(source[k].p, inductor[k].p);
    connect(inductor[k].n, bridge.phase[k]);
  end for;
  connect(source[1].n, source[2].n);
  connect(source[2].n, source[3].n);
  connect(bridge.p, load.p);
  connect(bridge.n, load.n);
  connect(bridge.n, ground.p);
  der(integral) = ud;
  annotation (experiment(StopTime = 0.1, Tolerance = 1e-7), Documentation(info = "<html><p>The inductances of the phases do not let a current jump, so while it passes from one diode to the next both conduct. In that time the direct voltage is lower. The mean value falls with
the current, as the textbook says.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = ud), Curve(y = bridge.upper[1].i), Curve(y = bridge.upper[2].i), Curve(y = bridge.upper[3].i)})})}));
end Commutation;
