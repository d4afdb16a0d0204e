within Saltus;
package Blocks "Signals: sources, nonlinear characteristics, sampled and continuous controllers"
  extends Icons.Package;
  annotation (Documentation(info = "<html><p>Blocks compute outputs from inputs. All jumps and kinks of their characteristics are events.</p></html>"),
    Icon(graphics = {Rectangle(extent = {{-60, 40}, {60, -40}}, lineColor = {0, 0, 127}), Line(points = {{-60, -20}, {-10, -20}, {-10, 20}, {60, 20}}, color = {0, 90, 160}, thickness = 1)}));
end Blocks;
