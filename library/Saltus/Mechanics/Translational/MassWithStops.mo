within Saltus.Mechanics.Translational;
model MassWithStops "A body that bounces between two hard stops"
  parameter Units.Mass m(start = 1) "Mass";
  parameter Units.Length low(start = -1) "Lower stop";
  parameter Units.Length high(start = 1) "Upper stop";
  parameter Real e(min = 0, max = 1) = 1 "Part of the speed that is left after an impact";
  Flange flange annotation (Placement(transformation(extent = {{-10, -10}, {10, 10}})));
  Units.Length s(stateSelect = StateSelect.always) "Position";
  Units.Velocity v(stateSelect = StateSelect.always) "Velocity";
  Integer impacts(start = 0, fixed = true) "Impacts so far";
equation
  s = flange.s;
  v = der(s);
  m*der(v) = flange.f;
  when {s <= low and v < 0, s >= high and v > 0} then
    reinit(v, -e*pre(v));
    impacts = pre(impacts) + 1;
  end when;
  annotation (Icon(graphics = {Rectangle(extent = {{-40, 40}, {40, -40}}, lineColor = {0, 90, 0}, fillColor = {180, 220, 180}, fillPattern = FillPattern.Solid), Line(points = {{-80, 60}, {-80, -60}}), Line(points = {{80, 60}, {80, -60}})}));
end MassWithStops;
