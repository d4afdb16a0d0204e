within Saltus.Mechanics.Rotational;
model Clutch "Couples two shafts by friction, as strongly as a signal says"
  parameter Units.Torque tauMax(start = 10) "Torque while it slides with full pressure";
  extends DryFriction;
  Blocks.RealInput u "Pressure, between 0 and 1" annotation (Placement(transformation(extent = {{-20, -20}, {20, 20}}, rotation = -90, origin = {0, 110})));
equation
  tau0 = tauMax*max(0, min(1, u));
  annotation (Icon(graphics = {Line(points = {{-10, 60}, {-10, -60}}, color = {95, 95, 95}, thickness = 1), Line(points = {{10, 60}, {10, -60}}, color = {95, 95, 95}, thickness = 1)}));
end Clutch;
