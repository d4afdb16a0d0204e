within Saltus.Examples.E1993;
model Hysteresis "Hysteresis by an instantaneous equation"
  extends Icons.Example;
  parameter Real H = 1 "Threshold";
  Real u = 2*sin(time) "Input";
  discrete Real y(start = 0, fixed = true) "Output";
equation
  when {u > H, u < -H} then
    y = if u > H then 1 else -1;
  end when;
  annotation (experiment(StopTime = 10), Documentation(info = "<html><p>The output changes only when the input passes a threshold outwards. Before the first passage it has its start value. The paper joins the conditions with <code>or</code>; a list
of conditions also reacts when one follows directly on the other.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = u), Curve(y = y)})})}));
end Hysteresis;
