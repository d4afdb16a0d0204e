within Saltus;
package Meta "Models that take turns: parts of state machines of continuous time"
  extends Icons.Package;
  annotation (Documentation(info = "<html>
<p>Whole models can be the states of a state machine. While a state is active its equations hold; the equations, variables and connections of the
others are gone. The operators are those of the language (<code>initialState</code>, <code>transition</code>, <code>activeState</code>,
<code>timeInState</code>); entry equations stand in <code>when activeState(s)</code>.</p>
<pre>
Plant p annotation (__Saltus(linearized = true));
equation
  initialState(p);
  transition(p, p, Saltus.Meta.excursion(p) &gt; 0.1);
</pre>
<p>The annotation <code>__Saltus</code> of a component that is a state says how it is treated; a tool that does not know it simulates the same model.</p>
<ul>
<li><code>linearized = true</code>: the state is entered as the linear model at the present point,
<code>der(x) = f(x_P) + A*(x - x_P)</code> with the exact derivatives of its equations by its states and inputs; what depends on time alone stays. A transition to itself
linearises it again where it is; nothing is reset then.</li>
<li><code>solver = \"rodas\"</code>: the integration method while it is active, unless the user asks for one.</li>
<li><code>tolerance = 1e-9</code>: the relative tolerance while it is active.</li>
</ul>
</html>"));
end Meta;
