within Saltus.Tanks;
model Source "Gives as much liquid as a pump takes"
  parameter Units.Concentration c = 0 "Concentration of the pollutant";
  Blocks.RealOutput concentration = c annotation (Placement(transformation(extent = {{100, -10}, {120, 10}})));
  annotation (Icon(graphics = {Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {0, 90, 160}, fillColor = {120, 180, 230}, fillPattern = FillPattern.Solid)}));
end Source;
