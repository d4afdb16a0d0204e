within Saltus.Electrical;
model Inductor "Linear inductor"
  parameter Units.Inductance L(start = 1) "Inductance";
  extends TwoPin;
equation
  L*der(i) = u;
  annotation (Icon(graphics = {Rectangle(extent = {{-60, 20}, {60, -20}}, lineColor = {0, 0, 255}, fillColor = {0, 0, 255}, fillPattern = FillPattern.Solid)}));
end Inductor;
