within Saltus.Examples.E1999;
model RectifierCurve "Rectifier, the diode as a parameterised curve"
  extends RectifierCircuit;
  annotation (experiment(StopTime = 0.1), Documentation(info = "<html><p>Third of three ways, and the one to use: voltage and current are functions of a parameter along the curve. There is no algorithm in the model. The only relation is
whether the parameter is negative.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = source.u), Curve(y = C.u), Curve(y = diode.i), Curve(y = diode.s)})})}));
end RectifierCurve;
