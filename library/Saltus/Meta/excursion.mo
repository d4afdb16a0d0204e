within Saltus.Meta;
function excursion "How far an active state has moved since it was entered"
  input Real state "A state of a state machine: the name of the component, not a number";
  output Real distance "Largest distance of a variable that the state differentiates, divided by its nominal value";
external "builtin" distance = excursion(state);
  annotation (Documentation(info = "<html>
<p>The distance to the point where the state was entered: the largest <code>abs(x - x_P)</code> of the variables <code>x</code> whose
derivatives occur in the equations of the state, each divided by its <code>nominal</code> value if it has one. It is zero where the state is entered, and has
no value while the state is not active. The usual place is a transition to the state itself, which linearises it again:</p>
<pre>
Plant p annotation (__Saltus(linearized = true));
equation
  initialState(p);
  transition(p, p, Saltus.Meta.excursion(p) &gt; 0.1);
</pre>
</html>"));
end excursion;
