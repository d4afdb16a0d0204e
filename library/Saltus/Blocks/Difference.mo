within Saltus.Blocks;
block Difference "What is wanted minus what is"
  RealInput u1 "Wanted" annotation (Placement(transformation(extent = {{-140, -20}, {-100, 20}})));
  RealInput u2 "Measured" annotation (Placement(transformation(extent = {{-20, -20}, {20, 20}}, rotation = 90, origin = {0, -120})));
  RealOutput y annotation (Placement(transformation(extent = {{100, -10}, {120, 10}})));
  extends Icons.Block;
equation
  y = u1 - u2;
  annotation (Icon(graphics = {Text(extent = {{-60, 60}, {60, -60}}, textString = "–")}));
end Difference;
