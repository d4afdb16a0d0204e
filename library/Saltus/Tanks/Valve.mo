within Saltus.Tanks;
model Valve "Lets liquid out by its weight"
  parameter Units.Area A(start = 1e-3) "Opening";
  parameter Units.Acceleration g = Units.g_n "Acceleration of gravity";
  Blocks.BooleanInput open annotation (Placement(transformation(extent = {{-20, -20}, {20, 20}}, rotation = -90, origin = {0, 110})));
  Blocks.RealInput level "Height of the liquid above the valve" annotation (Placement(transformation(extent = {{-140, -60}, {-100, -20}})));
  Blocks.RealInput c "Concentration where it takes the liquid from" annotation (Placement(transformation(extent = {{-140, -100}, {-100, -60}})));
  Blocks.RealOutput q "Flow that it takes" annotation (Placement(transformation(extent = {{-100, 20}, {-120, 40}})));
  Outlet outlet annotation (Placement(transformation(extent = {{90, -10}, {110, 10}})));
equation
  // Literal: the root must never see a negative level, not even during a trial step.
  q = if open and noEvent(level > 0) then A*sqrt(2*g*noEvent(max(0, level))) else 0;
  outlet.q = q;
  outlet.c = c;
  annotation (Icon(graphics = {Polygon(points = {{-60, 40}, {60, -40}, {60, 40}, {-60, -40}, {-60, 40}}, lineColor = {0, 90, 160})}));
end Valve;
