within Saltus.Electrical;
model SignalVoltage "Source whose voltage is an input"
  Blocks.RealInput v "Voltage from p to n" annotation (Placement(transformation(extent = {{-20, -20}, {20, 20}}, rotation = -90, origin = {0, 80})));
  extends TwoPin;
equation
  u = v;
  annotation (Icon(graphics = {Ellipse(extent = {{-50, 50}, {50, -50}}, lineColor = {0, 0, 255})}));
end SignalVoltage;
