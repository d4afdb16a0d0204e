within Saltus.Tanks;
model Pump "Gives a constant flow while it is on"
  parameter Units.VolumeFlow qOn(start = 1) "Flow";
  Blocks.BooleanInput on annotation (Placement(transformation(extent = {{-20, -20}, {20, 20}}, rotation = -90, origin = {0, 110})));
  Blocks.RealInput c "Concentration where it takes the liquid from" annotation (Placement(transformation(extent = {{-140, -60}, {-100, -20}})));
  Blocks.RealOutput q "Flow that it takes" annotation (Placement(transformation(extent = {{-100, 20}, {-120, 40}})));
  Outlet outlet annotation (Placement(transformation(extent = {{90, -10}, {110, 10}})));
equation
  q = if on then qOn else 0;
  outlet.q = q;
  outlet.c = c;
  annotation (Icon(graphics = {Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {0, 90, 160}), Polygon(points = {{-20, 50}, {60, 0}, {-20, -50}, {-20, 50}}, lineColor = {0, 90, 160})}));
end Pump;
