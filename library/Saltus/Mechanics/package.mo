within Saltus;
package Mechanics "Masses, springs, impacts and friction"
  extends Icons.Package;
  annotation (Documentation(info = "<html><p>Motion along a line, rotation about an axis, and pendulums.</p></html>"),
    Icon(graphics = {Rectangle(extent = {{-50, 20}, {50, -40}}, lineColor = {0, 90, 0}, fillColor = {180, 220, 180}, fillPattern = FillPattern.Solid), Line(points = {{-80, -40}, {80, -40}}, color = {0, 0, 0})}));
end Mechanics;
