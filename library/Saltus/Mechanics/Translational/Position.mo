within Saltus.Mechanics.Translational;
model Position "A place that moves as an input says"
  Blocks.RealInput s "Position" annotation (Placement(transformation(extent = {{-140, -20}, {-100, 20}})));
  Flange flange annotation (Placement(transformation(extent = {{90, -10}, {110, 10}})));
equation
  flange.s = s;
  annotation (Icon(graphics = {Rectangle(extent = {{-80, 30}, {80, -30}}, lineColor = {0, 127, 0}), Text(extent = {{-80, 30}, {80, -30}}, textString = "s")}));
end Position;
