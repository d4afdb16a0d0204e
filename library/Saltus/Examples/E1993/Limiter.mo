within Saltus.Examples.E1993;
model Limiter "A limited sine (figure 2)"
  extends Icons.Example;
  Blocks.Limiter limiter(high = 1, low = -1);
equation
  limiter.u = 2*sin(time);
  annotation (experiment(StopTime = 10), Documentation(info = "<html><p>The limiter is written as one would write it on paper. The compiler makes events of its relations. Each bend of the output is hit exactly.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = limiter.u), Curve(y = limiter.y)})})}));
end Limiter;
