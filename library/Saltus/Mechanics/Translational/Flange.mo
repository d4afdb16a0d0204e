within Saltus.Mechanics.Translational;
connector Flange "A place where bodies are joined"
  Units.Length s "Position";
  flow Units.Force f "Force on the element";
  annotation (Icon(graphics = {Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 127, 0}, fillColor = {0, 127, 0}, fillPattern = FillPattern.Solid)}));
end Flange;
