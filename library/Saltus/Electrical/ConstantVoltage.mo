within Saltus.Electrical;
model ConstantVoltage "Source of constant voltage"
  parameter Units.Voltage V(start = 1) "Voltage from p to n";
  extends TwoPin;
equation
  u = V;
  annotation (Icon(graphics = {Line(points = {{-10, 60}, {-10, -60}}, color = {0, 0, 255}), Line(points = {{10, 30}, {10, -30}}, color = {0, 0, 255})}));
end ConstantVoltage;
