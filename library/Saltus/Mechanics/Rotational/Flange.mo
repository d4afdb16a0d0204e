within Saltus.Mechanics.Rotational;
connector Flange "A place where shafts are joined"
  Units.Angle phi "Angle";
  flow Units.Torque tau "Torque on the element";
  annotation (Icon(graphics = {Ellipse(extent = {{-100, 100}, {100, -100}}, lineColor = {95, 95, 95}, fillColor = {95, 95, 95}, fillPattern = FillPattern.Solid)}));
end Flange;
