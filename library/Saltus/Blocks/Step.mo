within Saltus.Blocks;
block Step "A jump at a given time"
  parameter Real height = 1 "Jump";
  parameter Real offset = 0 "Value before it";
  parameter Units.Time startTime = 0 "Time of the jump";
  RealOutput y annotation (Placement(transformation(extent = {{100, -10}, {120, 10}})));
  extends Icons.Block;
equation
  y = offset + (if time < startTime then 0 else height);
  annotation (Icon(graphics = {Line(points = {{-80, -50}, {0, -50}, {0, 50}, {80, 50}}, color = {0, 90, 160})}));
end Step;
