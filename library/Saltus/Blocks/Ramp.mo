within Saltus.Blocks;
block Ramp "Rises for a while, then stays"
  parameter Real height = 1 "Rise";
  parameter Units.Time duration(min = 1e-12, start = 1) "Time of the rise";
  parameter Real offset = 0 "Value before it";
  parameter Units.Time startTime = 0 "Begin of the rise";
  RealOutput y annotation (Placement(transformation(extent = {{100, -10}, {120, 10}})));
  extends Icons.Block;
equation
  y = offset + (if time < startTime then 0 else if time < startTime + duration then height*(time - startTime)/duration else height);
  annotation (Icon(graphics = {Line(points = {{-80, -50}, {-30, -50}, {30, 50}, {80, 50}}, color = {0, 90, 160})}));
end Ramp;
