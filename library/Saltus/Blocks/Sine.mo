within Saltus.Blocks;
block Sine "Sinusoidal signal"
  parameter Real amplitude = 1 "Amplitude";
  parameter Units.Frequency f(start = 1) "Frequency";
  parameter Units.Angle phase = 0 "Phase at time 0";
  parameter Real offset = 0 "Mean";
  RealOutput y annotation (Placement(transformation(extent = {{100, -10}, {120, 10}})));
  extends Icons.Block;
equation
  y = offset + amplitude*sin(2*Units.pi*f*time + phase);
  annotation (Icon(graphics = {Line(points = {{-80, 0}, {-40, 60}, {0, 0}, {40, -60}, {80, 0}}, color = {0, 90, 160}, smooth = Smooth.Bezier)}));
end Sine;
