within Saltus.Examples.E1993;
model SwitchCircuit "A current source, a switch and a capacitor (figure 3)"
  extends Icons.Example;
  Electrical.ConstantCurrent source(I = -0.01) "Drives its current into the upper node";
  Electrical.Resistor R1(R = 100), R2(R = 20);
  Electrical.Capacitor C(C = 0.1e-6, u(start = 0, fixed = true));
  Electrical.Switch switch1;
  Electrical.Ground ground;
  Units.Voltage y = C.u "Output";
equation
  connect(source.p, R1.p);
  connect(R1.p, switch1.p);
  connect(switch1.n, R2.p);
  connect(R2.p, C.p);
  connect(source.n, ground.p);
  connect(R1.n, ground.p);
  connect(R2.n, ground.p);
  connect(C.n, ground.p);
  switch1.open = if time < 1.0e-6 then true else if time < 2.5e-6 then false else if time < 5.0e-6 then true else if time < 9.0e-6 then false else true;
  annotation (experiment(StopTime = 12e-6), Documentation(info = "<html><p>The switch is a single equation whose causality depends on its position, so it is part of an algebraic loop. The determinant of the loop is not zero in either position. One
program serves both.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = y), Curve(y = R1.u), Curve(y = switch1.i)})})}));
end SwitchCircuit;
