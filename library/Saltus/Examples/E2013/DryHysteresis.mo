within Saltus.Examples.E2013;
model DryHysteresis "A function with two values, in two ways"
  extends Icons.Example;
  parameter Real x1 = -1, x2 = 1 "Thresholds";
  parameter Real y1 = -2, y2 = 2 "Values";
  Real x = 1.5*sin(time) "Argument";
  discrete Real y(start = y1, fixed = true) "By a when-clause";
  Boolean high(start = false, fixed = true);
  Real z = if high then y2 else y1 "By a Boolean";
equation
  when {x < x1, x > x2} then
    y = if x < 0 then y1 else y2;
  end when;
  high = x > x2 or pre(high) and x >= x1;
  annotation (experiment(StopTime = 15), Documentation(info = "<html><p>An <code>if</code>-expression cannot describe a function with two values: something must remember. Either a discrete variable does, set by a <code>when</code>-clause, or a Boolean that refers to its
own previous value. Both give the same.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = x), Curve(y = y), Curve(y = z)})})}));
end DryHysteresis;
