within Saltus.Blocks;
block SampleHold "Reads its input at equal distances in time"
  parameter Units.Time period(min = 1e-12, start = 0.1) "Distance";
  parameter Units.Time startTime = 0 "First reading";
  extends SISO(y(start = 0, fixed = true));
equation
  when sample(startTime, period) then
    y = u;
  end when;
  annotation (Icon(graphics = {Line(points = {{-80, -60}, {-40, -60}, {-40, 0}, {0, 0}, {0, 40}, {40, 40}, {40, 20}, {80, 20}}, color = {0, 90, 160})}));
end SampleHold;
