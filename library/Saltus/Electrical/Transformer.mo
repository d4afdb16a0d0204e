within Saltus.Electrical;
model Transformer "Two coupled inductors"
  parameter Units.Inductance L1(start = 1) "Inductance of side 1";
  parameter Units.Inductance L2(start = 1) "Inductance of side 2";
  parameter Units.Inductance M(start = 0.5) "Mutual inductance; below sqrt(L1*L2)";
  Pin p1, n1 "Side 1";
  Pin p2, n2 "Side 2";
  Units.Voltage u1 = p1.v - n1.v "Voltage of side 1";
  Units.Voltage u2 = p2.v - n2.v "Voltage of side 2";
  Units.Current i1(start = 0, fixed = true) "Current of side 1";
  Units.Current i2(start = 0, fixed = true) "Current of side 2";
equation
  i1 = p1.i;
  i2 = p2.i;
  p1.i + n1.i = 0;
  p2.i + n2.i = 0;
  u1 = L1*der(i1) + M*der(i2);
  u2 = M*der(i1) + L2*der(i2);
  annotation (Icon(graphics = {Rectangle(extent = {{-60, 60}, {-20, -60}}, lineColor = {0, 0, 255}, fillColor = {0, 0, 255}, fillPattern = FillPattern.Solid), Rectangle(extent = {{20, 60}, {60, -60}}, lineColor = {0, 0, 255}, fillColor = {0, 0, 255}, fillPattern = FillPattern.Solid), Text(extent = {{-100, 100}, {100, 70}}, textString = "%name")}));
end Transformer;
