within Saltus;
package Examples "Models to simulate, by the document they come from"
  extends Icons.Package;
  annotation (Documentation(info = "<html>
<ul>
<li><code>E1993</code>: H. Elmqvist, F. E. Cellier, M. Otter, Object-oriented modeling of hybrid systems, 1993.</li>
<li><code>E1997</code>: J. Plank, State events in continuous modelling and simulation, 1997.</li>
<li><code>E1999</code>: M. Otter, H. Elmqvist, S. E. Mattsson, Modeling of mixed continuous/discrete systems in Modelica, 1999.</li>
<li><code>E2005</code>: H. Lundvall, P. Fritzson, Event handling in the OpenModelica compiler and runtime system, 2005.</li>
<li><code>E2013</code>: F. E. Cellier, Simulation of discontinuous systems (lecture), 2013.</li>
<li><code>Parts</code>: components of this package that no document uses.</li>
</ul>
<p>Where a document gives no numbers they are chosen here. Models of documents are written in today's language; what had to change is said with each.</p>
</html>"));
end Examples;
