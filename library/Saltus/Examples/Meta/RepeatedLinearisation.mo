within Saltus.Examples.Meta;
model RepeatedLinearisation "A nonlinear decay, linear piece by piece"
  extends Icons.Example;
  model Decay
    Real x(start = 1, fixed = true);
  equation
    der(x) = -x^2;
  end Decay;
  parameter Real a = 0.1 "Linearise again at this distance";
  Decay p annotation (__Saltus(linearized = true));
  Decay exact "The same, not linear";
  Real error = p.x - exact.x "By the linearisation";
equation
  initialState(p);
  transition(p, p, Saltus.Meta.excursion(p) > a);
  annotation (experiment(StopTime = 2, Tolerance = 1e-11), Documentation(info = "<html><p>Section 8.5.1 of the thesis. Erratum: the linear system there, <code>J(x_P)*(x - x_P)</code>, lacks the value <code>f(x_P)</code>; without it the point of linearisation would be at rest.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = p.x), Curve(y = exact.x), Curve(y = error)})})}));
end RepeatedLinearisation;
