within Saltus.Electrical;
model DiodeComplementary "Ideal diode: current and blocking voltage are not negative, and one of them is zero"
  extends TwoPin;
protected
  constant Units.Resistance unitResistance = 1;
equation
  // Two numbers are complementary exactly if the smaller one is zero.
  0 = if unitResistance*i < -u then unitResistance*i else -u;
  annotation (Icon(graphics = {Polygon(points = {{40, 0}, {-40, 40}, {-40, -40}, {40, 0}}, lineColor = {0, 0, 255}), Line(points = {{40, 40}, {40, -40}}, color = {0, 0, 255}), Text(extent = {{-40, 20}, {0, -20}}, textString = "C")}));
end DiodeComplementary;
