within Saltus.Electrical;
model IdealTransformer "Voltages in a fixed ratio, no losses, no stored energy"
  parameter Real n(start = 1) "Voltage of side 1 divided by that of side 2";
  Pin p1, n1 "Side 1";
  Pin p2, n2 "Side 2";
  Units.Voltage u1 = p1.v - n1.v "Voltage of side 1";
  Units.Voltage u2 = p2.v - n2.v "Voltage of side 2";
equation
  u1 = n*u2;
  p2.i = -n*p1.i;
  p1.i + n1.i = 0;
  p2.i + n2.i = 0;
  annotation (Icon(graphics = {Rectangle(extent = {{-60, 60}, {-20, -60}}, lineColor = {0, 0, 255}), Rectangle(extent = {{20, 60}, {60, -60}}, lineColor = {0, 0, 255}), Text(extent = {{-100, 100}, {100, 70}}, textString = "%name")}));
end IdealTransformer;
