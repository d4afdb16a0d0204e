within Saltus.Blocks;
connector BooleanOutput = output Boolean "A truth value that goes out"
  annotation (Icon(graphics = {Polygon(points = {{-100, 100}, {100, 0}, {-100, -100}, {-100, 100}}, lineColor = {160, 0, 120})}));
