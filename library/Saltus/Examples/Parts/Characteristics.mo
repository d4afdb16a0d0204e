within Saltus.Examples.Parts;
model Characteristics "A sine through six nonlinear blocks"
  extends Icons.Example;
  Real u = 2*sin(2*Units.pi*time) "Input of all";
  Blocks.Limiter limiter(high = 1.5, low = -0.5);
  Blocks.DeadZone deadZone(high = 1, low = -1);
  Blocks.Backlash backlash(b = 1);
  Blocks.Relay relay(on = 1, off = -1);
  Blocks.Quantiser quantiser(quantum = 0.5);
  Blocks.SampleHold hold(period = 0.1);
equation
  limiter.u = u;
  deadZone.u = u;
  backlash.u = u;
  relay.u = u;
  quantiser.u = u;
  hold.u = u;
  annotation (experiment(StopTime = 2), Documentation(info = "<html><p>Each block has its own corners, jumps or memory. All of them are events that are hit exactly. Some of them happen at the same time.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = u), Curve(y = limiter.y), Curve(y = deadZone.y), Curve(y = backlash.y), Curve(y = quantiser.y), Curve(y = hold.y)})})}));
end Characteristics;
