within Saltus.Examples.E1997;
model BallMacroscopic "The bouncing ball, the impact as an event"
  extends Icons.Example;
  parameter Real alpha = 0.8 "Part of the speed that is left after an impact";
  Units.Length x(start = 1, fixed = true) "Height";
  Units.Velocity v(start = 0, fixed = true) "Velocity";
equation
  der(x) = v;
  der(v) = -Units.g_n;
  when x <= 0 and v <= 0 then
    reinit(v, -alpha*pre(v));
  end when;
  annotation (experiment(StopTime = 3), Documentation(info = "<html><p>Seen from far away an impact takes no time. It is an event that turns the velocity round and takes a part of it. That the velocity is negative belongs to the condition, as in the thesis.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = x), Curve(y = v)})})}));
end BallMacroscopic;
