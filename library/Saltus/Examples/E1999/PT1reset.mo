within Saltus.Examples.E1999;
model PT1reset "A first-order block whose state is reset"
  extends Icons.Example;
  Blocks.FirstOrderReset block1(T = 0.5, k = 2);
equation
  block1.u = 1;
  block1.reset = time >= 1 and time < 1.5 or time >= 2;
  annotation (experiment(StopTime = 3), Documentation(info = "<html><p>When <code>reset</code> becomes true the state jumps to zero. Nothing happens when it becomes false. Afterwards the block starts
to follow its input again.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = block1.y), Curve(y = block1.reset)})})}));
end PT1reset;
