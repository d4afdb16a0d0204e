within Saltus.Examples.E1999;
model TwoPoint "Two-point controller (figure 2) and the integral of its output"
  extends Icons.Example;
  Blocks.TwoPoint twoPoint(y0 = 1);
  Real x(start = 0, fixed = true) "Integral of the output";
equation
  twoPoint.u = sin(2*Units.pi*time);
  der(x) = twoPoint.y;
  annotation (experiment(StopTime = 2.25), Documentation(info = "<html><p>The relation in the <code>if</code>-expression is an event of its own accord. The output jumps exactly when the sine passes zero. Its integral is a
sequence of straight lines without any error of integration.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = twoPoint.u), Curve(y = twoPoint.y), Curve(y = x)})})}));
end TwoPoint;
