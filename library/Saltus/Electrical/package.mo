within Saltus;
package Electrical "Circuits with elements that switch"
  extends Icons.Package;
  annotation (Documentation(info = "<html>
<p>Elements of circuits. The diode exists in four forms: as a finite automaton (1999), as a switch with a condition (1993), as a
complementarity condition, and as a parameterised curve, which is the one to use.</p>
<p>With <code>Ron = 0</code> and <code>Goff = 0</code> a semiconductor is ideal: no voltage while it conducts and no current while it blocks. In series with an
inductor or parallel to a capacitor such an element would change the number of states; give it a small resistance and conductance there.</p>
</html>"),
    Icon(graphics = {Line(points = {{-80, 0}, {-20, 0}, {40, 35}}, color = {0, 90, 160}, thickness = 1), Line(points = {{40, 0}, {80, 0}}, color = {0, 90, 160}, thickness = 1)}));
end Electrical;
