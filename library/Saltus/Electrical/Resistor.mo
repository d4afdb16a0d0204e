within Saltus.Electrical;
model Resistor "Linear resistor"
  parameter Units.Resistance R(start = 1) "Resistance";
  extends TwoPin;
equation
  u = R*i;
  annotation (Icon(graphics = {Rectangle(extent = {{-60, 25}, {60, -25}}, lineColor = {0, 0, 255}), Text(extent = {{-100, -40}, {100, -75}}, textString = "%R")}));
end Resistor;
