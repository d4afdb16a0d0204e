within Saltus.Examples.E1999;
model TestDiscrete "A Boolean that would change between events: intentionally wrong"
  extends Icons.Example;
  parameter Real y0 = 1;
  Real u = sin(time);
  Real y1, y2, y3;
  Boolean b1, b2;
equation
  b1 = u > 0;
  b2 = noEvent(u >= 0);
  y1 = if b1 then y0 else -y0;
  y2 = if b2 then sqrt(u) else 0;
  y3 = if noEvent(u >= 0) then sqrt(u) else 0;
  annotation (experiment(StopTime = 6), TestCase(shouldPass = false), Documentation(info = "<html><p>A Boolean changes at events only, and <code>noEvent</code> says that there is none: the equation of <code>b2</code> is an error and is reported as one. The report of 1999
could declare such a variable <code>nondiscrete</code>; today's language cannot, and the literal relation stands in the expression that needs it (<code>y3</code>).</p></html>"));
end TestDiscrete;
