within Saltus.Tanks;
block LevelControl "Switches on below one level and off above another"
  parameter Units.Length low(start = 0.2) "Switches on when the level falls to this";
  parameter Units.Length high(start = 0.8) "Switches off when it rises to this";
  parameter Boolean startsOn = true "Position between the levels at the start";
  Blocks.RealInput level annotation (Placement(transformation(extent = {{-140, -20}, {-100, 20}})));
  Blocks.BooleanOutput on(start = startsOn, fixed = true) annotation (Placement(transformation(extent = {{100, -10}, {120, 10}})));
  extends Icons.Block;
equation
  on = level <= low or pre(on) and level < high;
  annotation (Icon(graphics = {Line(points = {{-80, 40}, {80, 40}}, color = {0, 90, 160}), Line(points = {{-80, -40}, {80, -40}}, color = {0, 90, 160})}));
end LevelControl;
