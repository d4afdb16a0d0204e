within Saltus.Blocks;
partial block SISO "One input, one output"
  RealInput u annotation (Placement(transformation(extent = {{-140, -20}, {-100, 20}})));
  RealOutput y annotation (Placement(transformation(extent = {{100, -10}, {120, 10}})));
  extends Icons.Block;
end SISO;
