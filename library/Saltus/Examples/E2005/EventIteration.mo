within Saltus.Examples.E2005;
model EventIteration "A chain of events at one instant"
  extends Icons.Example;
  Real x(start = 1.0, fixed = true), dx;
  discrete Real a(start = 1.0, fixed = true);
  Boolean y(start = false, fixed = true), z(start = false, fixed = true);
  Boolean h1, h2;
equation
  der(x) = dx;
  dx = a*x;
  h1 = x >= 2;
  h2 = dx >= 4;
  when h1 then
    y = true;
  end when;
  when y then
    a = 2.0;
  end when;
  when h2 then
    z = true;
  end when;
  annotation (experiment(StopTime = 1), Documentation(info = "<html><p>When <code>x</code> reaches 2, <code>y</code> becomes true, so <code>a</code> doubles, so <code>dx</code> reaches 4, so <code>z</code> becomes true. All of it is one event with several rounds. The integrator
sees only its end.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = x), Curve(y = dx), Curve(y = a)})})}));
end EventIteration;
