within Saltus.Blocks;
block Pulse "Periodic pulses"
  parameter Real amplitude = 1 "Height of a pulse";
  parameter Real offset = 0 "Value between pulses";
  parameter Units.Time period(min = 1e-12, start = 1) "Time from pulse to pulse";
  parameter Real width(min = 0, max = 1) = 0.5 "Part of the period that a pulse takes";
  parameter Units.Time startTime = 0 "First pulse";
  RealOutput y annotation (Placement(transformation(extent = {{100, -10}, {120, 10}})));
  extends Icons.Block;
protected
  BooleanPulse pulse(period = period, width = width, startTime = startTime);
equation
  y = offset + (if pulse.y then amplitude else 0);
  annotation (Icon(graphics = {Line(points = {{-80, -50}, {-50, -50}, {-50, 50}, {-10, 50}, {-10, -50}, {30, -50}, {30, 50}, {70, 50}, {70, -50}}, color = {0, 90, 160})}));
end Pulse;
