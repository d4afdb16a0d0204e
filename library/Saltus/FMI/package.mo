within Saltus;
package FMI "Functional mock-up units as components"
  annotation (Documentation(info = "<html>
<p>What the wrapper that <code>saltus import</code> writes for an FMU is made of. Between events everything that an FMU gives is a function of a
point: the number of events so far, time, states and inputs. <code>event</code> and <code>step</code> have effects, and are called in
<code>when</code> clauses. The functions run only with <code>--allow-external</code>.</p>
</html>"));
end FMI;
