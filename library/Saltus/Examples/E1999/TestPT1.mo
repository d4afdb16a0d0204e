within Saltus.Examples.E1999;
model TestPT1 "Three first-order blocks that find their own steady state"
  extends Icons.Example;
  Blocks.SteadyFirstOrder b1(T = 1, k = 2), b2(T = 1, k = 3), b3(T = 1, k = 0.5);
  Real u "Input";
equation
  u = if time < 1 then 1 else 2;
  b1.u = u;
  b1.y = b2.u;
  b2.y = b3.u;
  annotation (experiment(StopTime = 6), Documentation(info = "<html><p><code>reinit</code> in a clause that is active at the start is an initial equation, and those of the three blocks are sorted together. So all start at rest, each
on the output of the one before. At one second the input jumps.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = u), Curve(y = b1.y), Curve(y = b2.y), Curve(y = b3.y)})})}));
end TestPT1;
