within Saltus;
package Tanks "Tanks, valves and pumps for liquids that carry something"
  extends Icons.Package;
  annotation (Documentation(info = "<html><p>A liquid of constant density flows through open tanks. It may carry a pollutant that decays in the tanks.</p></html>"),
    Icon(graphics = {Rectangle(extent = {{-50, 50}, {50, -60}}, lineColor = {0, 0, 0}), Rectangle(extent = {{-50, 10}, {50, -60}}, lineColor = {0, 90, 160}, fillColor = {120, 180, 230}, fillPattern = FillPattern.Solid)}));
end Tanks;
