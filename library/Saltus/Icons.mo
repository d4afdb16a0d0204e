within Saltus;
package Icons "Base classes that have an icon and nothing else"
  partial package Package "Icon of packages"
    annotation (Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {60, 60, 60}, fillColor = {245, 245, 245}, fillPattern = FillPattern.Solid, radius = 20),
      Line(points = {{-100, 60}, {100, 60}}, color = {60, 60, 60})}));
  end Package;

  partial model Example "Icon of models to simulate"
    annotation (Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Ellipse(extent = {{-100, 100}, {100, -100}}, lineColor = {60, 60, 60}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
      Polygon(points = {{-35, 60}, {65, 0}, {-35, -60}, {-35, 60}}, lineColor = {0, 90, 160}, fillColor = {0, 90, 160}, fillPattern = FillPattern.Solid)}));
  end Example;

  partial model TwoPole "Box between two terminals, with the name above"
    annotation (Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Line(points = {{-100, 0}, {-60, 0}}, color = {60, 60, 60}),
      Line(points = {{60, 0}, {100, 0}}, color = {60, 60, 60}),
      Text(extent = {{-100, 100}, {100, 60}}, textString = "%name", textColor = {0, 0, 160})}));
  end TwoPole;

  partial block Block "Frame of blocks, with the name above"
    annotation (Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {0, 0, 127}, fillColor = {255, 255, 255}, fillPattern = FillPattern.Solid),
      Text(extent = {{-120, 140}, {120, 105}}, textString = "%name", textColor = {0, 0, 160})}));
  end Block;

  annotation (Documentation(info = "<html><p>Icons that several classes share.</p></html>"),
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {60, 60, 60}, fillColor = {245, 245, 245}, fillPattern = FillPattern.Solid, radius = 20)}));
end Icons;
