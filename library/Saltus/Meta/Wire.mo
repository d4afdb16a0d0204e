within Saltus.Meta;
block Wire "A link for signals that exists while it is active"
  Blocks.RealInput u "From";
  Blocks.RealOutput y "To";
equation
  y = u;
  annotation (Documentation(info = "<html>
<p>A link as a state of its own: two wires with a common sink are states of one machine, and the one that is active passes its signal on.</p>
<pre>
Saltus.Meta.Wire first, second;
equation
  initialState(first);
  transition(first, second, time &gt;= 1);
  connect(slow.y, first.u);
  connect(fast.y, second.u);
  connect(first.y, plant.u);
  connect(second.y, plant.u);
</pre>
</html>"));
end Wire;
