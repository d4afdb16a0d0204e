within Saltus.Examples.E1999;
model RectifierAutomaton "Rectifier, the diode as a finite automaton"
  extends RectifierCircuit(redeclare Electrical.DiodeAutomaton diode);
  annotation (experiment(StopTime = 0.1), Documentation(info = "<html><p>First of three ways: the diode has a state and a rule by which it changes. At an event the whole model is evaluated again until the state stays. The result is
the same as with the other two.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = source.u), Curve(y = C.u), Curve(y = diode.i)})})}));
end RectifierAutomaton;
