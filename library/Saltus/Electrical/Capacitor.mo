within Saltus.Electrical;
model Capacitor "Linear capacitor"
  parameter Units.Capacitance C(start = 1) "Capacitance";
  extends TwoPin;
equation
  C*der(u) = i;
  annotation (Icon(graphics = {Line(points = {{-60, 0}, {-8, 0}}, color = {0, 0, 255}), Line(points = {{8, 0}, {60, 0}}, color = {0, 0, 255}),
    Line(points = {{-8, 40}, {-8, -40}}, color = {0, 0, 255}), Line(points = {{8, 40}, {8, -40}}, color = {0, 0, 255})}));
end Capacitor;
