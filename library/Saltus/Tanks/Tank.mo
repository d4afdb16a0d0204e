within Saltus.Tanks;
model Tank "An open tank in which a pollutant decays"
  parameter Units.Area A(start = 1) "Cross section";
  parameter Units.Volume capacity(start = 10) "Volume of the full tank";
  parameter Units.Rate decay = 0 "Rate at which the pollutant decays";
  parameter Units.Volume V0 = 0 "Volume at the start";
  parameter Units.Concentration c0 = 0 "Concentration at the start";
  parameter Units.Volume Vmin = 1e-6*capacity "Below this volume the concentration is not computed";
  Inlet inlet annotation (Placement(transformation(extent = {{-110, 50}, {-90, 70}})));
  Blocks.RealInput qOut "Flow that is taken out" annotation (Placement(transformation(extent = {{140, -80}, {100, -40}})));
  Units.Volume V(start = V0, fixed = true) "Volume";
  Units.Mass pollutant(start = V0*c0, fixed = true) "Mass of the pollutant";
  Units.Concentration c "Concentration of the pollutant";
  Units.Length level = V/A "Height of the liquid";
equation
  der(V) = inlet.q - qOut;
  der(pollutant) = inlet.q*inlet.c - qOut*c - decay*pollutant;
  c = if V > Vmin then pollutant/V else 0;
  annotation (Icon(graphics = {Line(points = {{-60, 80}, {-60, -80}, {60, -80}, {60, 80}}), Rectangle(extent = {{-60, 10}, {60, -80}}, lineColor = {0, 90, 160}, fillColor = {120, 180, 230}, fillPattern = FillPattern.Solid), Text(extent = {{-100, 115}, {100, 85}}, textString = "%name")}));
end Tank;
