within Saltus.Blocks;
block PulseWidth "Pulses whose width follows an input"
  parameter Units.Time period(min = 1e-12, start = 1) "Time from pulse to pulse";
  parameter Units.Time startTime = 0 "First pulse";
  RealInput u "Wanted part of the period, between 0 and 1; read at the begin of each period" annotation (Placement(transformation(extent = {{-140, -20}, {-100, 20}})));
  BooleanOutput y annotation (Placement(transformation(extent = {{100, -10}, {120, 10}})));
  extends Icons.Block;
protected
  discrete Units.Time until(start = startTime, fixed = true) "End of the latest pulse";
equation
  when sample(startTime, period) then
    until = time + period*min(1, max(0, u));
  end when;
  y = time < until;
  annotation (Icon(graphics = {Line(points = {{-80, -50}, {-60, -50}, {-60, 50}, {-50, 50}, {-50, -50}, {0, -50}, {0, 50}, {30, 50}, {30, -50}, {60, -50}, {60, 50}}, color = {160, 0, 120})}));
end PulseWidth;
