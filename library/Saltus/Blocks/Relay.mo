within Saltus.Blocks;
block Relay "Switches on above one threshold and off below another"
  parameter Real on = 1 "Threshold to switch on";
  parameter Real off = 0 "Threshold to switch off, below the other";
  parameter Boolean startsOn = false "Position at the start";
  RealInput u annotation (Placement(transformation(extent = {{-140, -20}, {-100, 20}})));
  BooleanOutput y(start = startsOn, fixed = true) annotation (Placement(transformation(extent = {{100, -10}, {120, 10}})));
  extends Icons.Block;
equation
  y = u >= on or pre(y) and u > off;
  annotation (Icon(graphics = {Line(points = {{-80, 0}, {-20, 0}, {40, 35}}, color = {160, 0, 120}), Line(points = {{40, 0}, {80, 0}}, color = {160, 0, 120})}));
end Relay;
