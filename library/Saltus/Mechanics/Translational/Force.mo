within Saltus.Mechanics.Translational;
model Force "A force from outside"
  Blocks.RealInput f "Force on what is connected" annotation (Placement(transformation(extent = {{-140, -20}, {-100, 20}})));
  Flange flange annotation (Placement(transformation(extent = {{90, -10}, {110, 10}})));
equation
  flange.f = -f;
  annotation (Icon(graphics = {Polygon(points = {{-80, 15}, {30, 15}, {30, 40}, {80, 0}, {30, -40}, {30, -15}, {-80, -15}, {-80, 15}}, lineColor = {0, 127, 0}, fillColor = {180, 220, 180}, fillPattern = FillPattern.Solid)}));
end Force;
