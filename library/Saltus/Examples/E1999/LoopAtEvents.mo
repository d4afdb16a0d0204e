within Saltus.Examples.E1999;
model LoopAtEvents "A loop that exists at events only (section 2.1)"
  extends Icons.Example;
  parameter Real k1 = 0.5, k2 = 0.5;
  Real u = time;
  Boolean tick = sample(0, 1);
  discrete Real x(start = 0, fixed = true), y(start = 0, fixed = true);
equation
  when tick then
    y = k1*x + u;
  end when;
  when tick then
    x = k2*y;
  end when;
  annotation (experiment(StopTime = 4.5), Documentation(info = "<html><p>Two clauses with the same condition need each other's result. They are always active together, so the loop has a solution and is solved at each event. Between events
both variables are held.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = u), Curve(y = x), Curve(y = y)})})}));
end LoopAtEvents;
