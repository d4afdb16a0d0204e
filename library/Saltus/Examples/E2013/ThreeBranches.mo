within Saltus.Examples.E2013;
model ThreeBranches "A function with three branches, solved for its value"
  extends Icons.Example;
  parameter Real x1 = -1, x2 = 1 "Borders of the regions";
  parameter Real a1 = 0.5, b1 = -0.5, a2 = 1, b2 = 0, a3 = 2, b3 = -1 "Slopes and offsets";
  Real x "Argument", y "Value";
equation
  y = if x < x1 then a1*x + b1 else if x < x2 then a2*x + b2 else a3*x + b3;
  x = 3*sin(time);
  annotation (experiment(StopTime = 10), Documentation(info = "<html><p>One expression instead of three regions and their events. The compiler finds the borders. Here the argument is known and the value is computed.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = x), Curve(y = y)})})}));
end ThreeBranches;
