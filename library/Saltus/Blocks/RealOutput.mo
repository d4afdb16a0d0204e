within Saltus.Blocks;
connector RealOutput = output Real "A number that goes out"
  annotation (Icon(graphics = {Polygon(points = {{-100, 100}, {100, 0}, {-100, -100}, {-100, 100}}, lineColor = {0, 0, 127})}));
