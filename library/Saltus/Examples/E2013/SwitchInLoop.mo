within Saltus.Examples.E2013;
model SwitchInLoop "A switch parallel to a resistor"
  extends Icons.Example;
  Electrical.SineVoltage U0(V = 10, f = 1);
  Electrical.Resistor R1(R = 100), R2(R = 300);
  Electrical.Switch switch1;
  Electrical.Ground ground;
equation
  connect(U0.p, R1.p);
  connect(R1.n, R2.p);
  connect(R1.n, switch1.p);
  connect(R2.n, ground.p);
  connect(switch1.n, ground.p);
  connect(U0.n, ground.p);
  switch1.open = time < 0.3 or time >= 0.7;
  annotation (experiment(StopTime = 1), Documentation(info = "<html><p>Solved for the voltage or for the current, the equation of the switch divides by zero in one position. Inside the loop of both resistors it does neither. While it is closed all
current goes through it.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = U0.u), Curve(y = R2.u), Curve(y = switch1.i)})})}));
end SwitchInLoop;
