within Saltus.Examples.E2013;
model ThreeBranchesBackwards "The same function, solved for its argument"
  extends Icons.Example;
  parameter Real x1 = -1, x2 = 1 "Borders of the regions";
  parameter Real a1 = 0.5, b1 = -0.5, a2 = 1, b2 = 0, a3 = 2, b3 = -1 "Slopes and offsets";
  Real x "Argument", y "Value";
equation
  y = if x < x1 then a1*x + b1 else if x < x2 then a2*x + b2 else a3*x + b3;
  y = 4*sin(time) + 1;
  annotation (experiment(StopTime = 10), Documentation(info = "<html><p>The equation is the same, and the value is known. In which region the argument is depends on the argument itself: a mixed system of one relation more than it has reals. The lecture turns the sum of the
branches round; so does the compiler.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = y), Curve(y = x)})})}));
end ThreeBranchesBackwards;
