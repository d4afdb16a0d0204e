within Saltus.Examples.E1999;
model RectifierComplementary "Rectifier, the diode as a complementarity condition"
  extends RectifierCircuit(redeclare Electrical.DiodeComplementary diode);
  annotation (experiment(StopTime = 0.1), Documentation(info = "<html><p>Second of three ways: neither current nor blocking voltage is negative, and one of them is zero. The language has no such condition; that the smaller of two numbers is zero
says the same. It is solved with the circuit as one mixed system.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = source.u), Curve(y = C.u), Curve(y = diode.i)})})}));
end RectifierComplementary;
