within Saltus.Blocks;
block BooleanPulse "True in the first part of every period"
  parameter Units.Time period(min = 1e-12, start = 1) "Time from pulse to pulse";
  parameter Real width(min = 0, max = 1) = 0.5 "Part of the period that a pulse takes";
  parameter Units.Time startTime = 0 "First pulse";
  BooleanOutput y annotation (Placement(transformation(extent = {{100, -10}, {120, 10}})));
  extends Icons.Block;
protected
  discrete Units.Time began(start = startTime - period, fixed = true) "Begin of the latest pulse";
equation
  when sample(startTime, period) then
    began = time;
  end when;
  y = time >= startTime and time < began + width*period;
  annotation (Icon(graphics = {Line(points = {{-80, -50}, {-50, -50}, {-50, 50}, {-10, 50}, {-10, -50}, {30, -50}, {30, 50}, {70, 50}, {70, -50}}, color = {160, 0, 120})}));
end BooleanPulse;
