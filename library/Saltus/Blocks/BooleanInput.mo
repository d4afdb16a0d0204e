within Saltus.Blocks;
connector BooleanInput = input Boolean "A truth value that comes in"
  annotation (Icon(graphics = {Polygon(points = {{-100, 100}, {100, 0}, {-100, -100}, {-100, 100}}, lineColor = {160, 0, 120}, fillColor = {160, 0, 120}, fillPattern = FillPattern.Solid)}));
