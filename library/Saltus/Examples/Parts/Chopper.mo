within Saltus.Examples.Parts;
model Chopper "A voltage chopped by pulses of variable width"
  extends Icons.Example;
  Electrical.ConstantVoltage source(V = 24);
  Electrical.GateTurnOff gate(Ron = 1e-4, Goff = 1e-6);
  Electrical.Diode freeWheel(Ron = 1e-4, Goff = 1e-6);
  Electrical.Inductor L(L = 0.01, i(start = 0, fixed = true));
  Electrical.Resistor R(R = 2);
  Electrical.Ground ground;
  Blocks.PulseWidth pwm(period = 1e-3);
equation
  pwm.u = if time < 0.05 then 0.25 else 0.75;
  connect(source.p, gate.p);
  connect(gate.n, L.p);
  connect(freeWheel.n, L.p);
  connect(L.n, R.p);
  connect(R.n, ground.p);
  connect(freeWheel.p, ground.p);
  connect(source.n, ground.p);
  connect(pwm.y, gate.fire);
  annotation (experiment(StopTime = 0.1), Documentation(info = "<html><p>A thyristor that can be turned off connects a source to an inductive load. While it blocks the current goes on through a diode. The mean current is the part of the period that it
conducts, times what the source could drive.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = L.i)})})}));
end Chopper;
