within Saltus.Examples.E1993;
model DifferenceEquation "A difference equation with its own clock"
  extends Icons.Example;
  parameter Units.Time samplingRate = 0.25 "Time between two evaluations";
  parameter Real a = -0.8, b = 0.2;
  Real u = 1 "Input";
  discrete Units.Time nextTime(start = 0.25, fixed = true) "Next evaluation";
  discrete Real x(start = 0, fixed = true);
equation
  when time >= pre(nextTime) then
    nextTime = pre(nextTime) + samplingRate;
    x = b*u - a*pre(x);
  end when;
  annotation (experiment(StopTime = 5.1), Documentation(info = "<html><p>The model computes when it wants to be evaluated next. The condition is a relation of time, so no search is needed to find the instant. The paper writes
<code>new(x) + a*x = b*u</code>; today an equation in a <code>when</code>-clause has the variable it determines on its left.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = x)})})}));
end DifferenceEquation;
