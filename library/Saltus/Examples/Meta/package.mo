within Saltus.Examples;
package Meta "The models of the thesis of 1997 as meta models: whole models take turns"
  extends Icons.Package;
  annotation (Documentation(info = "<html><p>The thesis activates, links, initialises and exchanges complete models at events (chapter 8). Here the models are states of state machines; beside each of them stands
the same behaviour in one model with <code>if</code> and <code>reinit</code>, in <a href=\"modelica://Saltus.Examples.E1997\">E1997</a>.</p></html>"));
end Meta;
