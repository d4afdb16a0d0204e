within Saltus.Examples.E2005;
model WhenOr "A crossing that cannot have an effect"
  extends Icons.Example;
  Real x(start = 0, fixed = true);
  Boolean b "True from 1 to 4 s";
  Integer n(start = 0, fixed = true) "How often the condition became true";
equation
  der(x) = 2;
  b = time >= 1 and time < 4;
  when b or x > 3 then
    n = pre(n) + 1;
  end when;
  annotation (experiment(StopTime = 5), Documentation(info = "<html><p>The condition is true from one second on because of <code>b</code>. That <code>x</code> passes 3 half a second later changes nothing, nor does the end of <code>b</code>. The paper of 2005
stops the integrator at such crossings; here it is not disturbed.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = x), Curve(y = n), Curve(y = b)})})}));
end WhenOr;
