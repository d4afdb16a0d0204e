within Saltus.Tanks;
connector Outlet "Where liquid goes out"
  output Units.VolumeFlow q "Flow";
  output Units.Concentration c "Of the pollutant in it";
  annotation (Icon(graphics = {Polygon(points = {{-100, 100}, {100, 0}, {-100, -100}, {-100, 100}}, lineColor = {0, 90, 160})}));
end Outlet;
