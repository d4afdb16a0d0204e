within Saltus.Blocks;
block Quantiser "Rounds to multiples of a quantum"
  parameter Real quantum(min = 1e-300, start = 0.1) "Distance of two outputs";
  extends SISO;
equation
  y = quantum*floor(u/quantum + 0.5);
  annotation (Icon(graphics = {Line(points = {{-80, -60}, {-50, -60}, {-50, -20}, {-10, -20}, {-10, 20}, {40, 20}, {40, 60}, {80, 60}}, color = {0, 90, 160})}));
end Quantiser;
