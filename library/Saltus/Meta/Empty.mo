within Saltus.Meta;
block Empty "A state in which nothing happens"
  annotation (Documentation(info = "<html>
<p>A region of two states, one of them empty, activates and deactivates a model:</p>
<pre>
Motor motor;
Saltus.Meta.Empty off;
equation
  initialState(off);
  transition(off, motor, time &gt;= 1);
  transition(motor, off, motor.w &gt; 100);
  connect(motor.flange, load.flange);
</pre>
<p>The connection vanishes with the motor.</p>
</html>"));
end Empty;
