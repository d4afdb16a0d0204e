within Saltus.Blocks;
block Constant "The same value always"
  parameter Real k(start = 1) "Value";
  RealOutput y annotation (Placement(transformation(extent = {{100, -10}, {120, 10}})));
  extends Icons.Block;
equation
  y = k;
  annotation (Icon(graphics = {Line(points = {{-80, 20}, {80, 20}}, color = {0, 90, 160})}));
end Constant;
