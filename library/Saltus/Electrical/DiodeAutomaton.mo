within Saltus.Electrical;
model DiodeAutomaton "Ideal diode as a finite automaton"
  extends TwoPin;
  Boolean off(start = true, fixed = true) "It blocks";
protected
  constant Units.Resistance unitResistance = 1;
equation
  0 = if pre(off) then unitResistance*i else u;
  off = pre(off) and u <= 0 or not pre(off) and i < 0;
  annotation (Icon(graphics = {Polygon(points = {{40, 0}, {-40, 40}, {-40, -40}, {40, 0}}, lineColor = {0, 0, 255}), Line(points = {{40, 40}, {40, -40}}, color = {0, 0, 255}), Text(extent = {{-40, 20}, {0, -20}}, textString = "A")}),
    Documentation(info = "<html><p>The switching is an algorithm: events are iterated until <code>off</code> does not change any more.</p></html>"));
end DiodeAutomaton;
