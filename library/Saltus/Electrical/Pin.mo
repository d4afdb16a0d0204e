within Saltus.Electrical;
connector Pin "A terminal of a circuit"
  Units.Voltage v "Potential";
  flow Units.Current i "Current into the element";
  annotation (Icon(graphics = {Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 255}, fillColor = {0, 0, 255}, fillPattern = FillPattern.Solid)}));
end Pin;
