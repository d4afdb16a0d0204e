within Saltus.Examples.E2013;
model TouchedThreshold "A threshold that is touched and not passed"
  extends Icons.Example;
  parameter Real x1 = 0, x2 = 1 "Borders of the regions";
  Real x "Moves between the borders and touches both";
  Real y "Jumps at the borders";
  Real outside(start = 0, fixed = true) "Time spent in another region than the middle one";
equation
  x = (x2 - x1)/2*sin(time) + (x1 + x2)/2;
  y = if x < x1 then -5 else if x <= x2 then x else 5;
  der(outside) = if y > 2 or y < -2 then 1 else 0;
  annotation (experiment(StopTime = 20), Documentation(info = "<html><p>The argument reaches the border of its region and turns back. A simulator that only counts crossings can end up on the wrong side for good. Here the time spent outside stays zero.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = x), Curve(y = y), Curve(y = outside)})})}));
end TouchedThreshold;
