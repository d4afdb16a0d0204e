within Saltus.Electrical;
model DiodeSwitch "Ideal diode as a switch that opens and closes itself"
  extends TwoPin;
  Boolean open(start = true, fixed = true) "No current flows";
protected
  constant Units.Resistance unitResistance = 1;
equation
  0 = if pre(open) then unitResistance*i else u;
  open = u <= 0 and not i > 0;
  annotation (Icon(graphics = {Polygon(points = {{40, 0}, {-40, 40}, {-40, -40}, {40, 0}}, lineColor = {0, 0, 255}), Line(points = {{40, 40}, {40, -40}}, color = {0, 0, 255}), Text(extent = {{-40, 20}, {0, -20}}, textString = "S")}),
    Documentation(info = "<html><p>The paper of 1993 wrote <code>new(open) = …</code>; today the value before is <code>pre(open)</code> and the new one is <code>open</code>.</p></html>"));
end DiodeSwitch;
