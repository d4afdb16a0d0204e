within Saltus.Tanks;
connector Inlet "Where liquid comes in"
  input Units.VolumeFlow q "Flow";
  input Units.Concentration c "Of the pollutant in it";
  annotation (Icon(graphics = {Polygon(points = {{-100, 100}, {100, 0}, {-100, -100}, {-100, 100}}, lineColor = {0, 90, 160}, fillColor = {0, 90, 160}, fillPattern = FillPattern.Solid)}));
end Inlet;
