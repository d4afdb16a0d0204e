package Saltus "Models that jump: switching circuits, friction, impacts, sampled controllers"
  annotation (version = "0.1.0", Documentation(info = "<html>
<p>This package comes with the program <code>saltus</code> and is found without any setting. It has components for hybrid models
and, in <a href=\"modelica://Saltus.Examples\">Examples</a>, the models of five documents about such models, one package for each.</p>
<pre>
saltus simulate Saltus.Examples.E1999.BouncingBall1
</pre>
</html>"),
    Icon(coordinateSystem(extent = {{-100, -100}, {100, 100}}), graphics = {
      Rectangle(extent = {{-100, 100}, {100, -100}}, lineColor = {60, 60, 60}, fillColor = {245, 245, 245}, fillPattern = FillPattern.Solid, radius = 20),
      Line(points = {{-80, -60}, {-20, -20}, {-20, 40}, {30, 60}, {30, -10}, {80, 20}}, color = {0, 90, 160}, thickness = 2)}));
end Saltus;
