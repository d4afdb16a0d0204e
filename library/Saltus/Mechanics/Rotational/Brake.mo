within Saltus.Mechanics.Rotational;
model Brake "Holds a shaft by friction, as strongly as a signal says"
  parameter Units.Torque tauMax(start = 10) "Torque while it slides with full pressure";
  parameter Real peak(min = 1) = 1 "Torque to break loose, divided by that while it slides";
  Flange a annotation (Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
  Blocks.RealInput u "Pressure, between 0 and 1" annotation (Placement(transformation(extent = {{-20, -20}, {20, 20}}, rotation = -90, origin = {0, 110})));
  Clutch clutch(tauMax = tauMax, peak = peak) "To the wall";
  Fixed wall;
equation
  connect(wall.flange, clutch.a);
  connect(clutch.b, a);
  connect(clutch.u, u);
  annotation (Icon(graphics = {Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {95, 95, 95}), Rectangle(extent = {{-30, 80}, {30, 55}}, lineColor = {95, 95, 95}, fillColor = {160, 160, 160}, fillPattern = FillPattern.Solid)}));
end Brake;
