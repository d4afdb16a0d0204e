within Saltus.Tanks;
model Sink "Takes liquid away and counts it"
  Inlet inlet annotation (Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
  Units.Volume V(start = 0, fixed = true) "Volume so far";
  Units.Mass pollutant(start = 0, fixed = true) "Mass of the pollutant so far";
equation
  der(V) = inlet.q;
  der(pollutant) = inlet.q*inlet.c;
  annotation (Icon(graphics = {Ellipse(extent = {{-60, 60}, {60, -60}}, lineColor = {0, 90, 160})}));
end Sink;
