within Saltus.Electrical;
model SineVoltage "Source of sinusoidal voltage"
  parameter Units.Voltage V(start = 1) "Amplitude";
  parameter Units.Frequency f(start = 50) "Frequency";
  parameter Units.Angle phase = 0 "Phase at time 0";
  extends TwoPin;
equation
  u = V*sin(2*Units.pi*f*time + phase);
  annotation (Icon(graphics = {Ellipse(extent = {{-50, 50}, {50, -50}}, lineColor = {0, 0, 255}), Line(points = {{-35, 0}, {-18, 28}, {0, 0}, {18, -28}, {35, 0}}, color = {0, 0, 255}, smooth = Smooth.Bezier)}));
end SineVoltage;
