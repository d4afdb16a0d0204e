within Saltus.Examples.E1999;
model Deadlock "A loop through two different when-clauses: intentionally wrong (section 2.1)"
  extends Icons.Example;
  parameter Real k1 = 0.5, k2 = 0.5;
  Real u = time;
  discrete Real x(start = 0, fixed = true), y(start = 0, fixed = true);
equation
  when sample(0, 1) then
    y = k1*x + u;
  end when;
  when sample(0, 2) then
    x = k2*y;
  end when;
  annotation (experiment(StopTime = 5), TestCase(shouldPass = false), Documentation(info = "<html><p>Each clause needs what the other one computes. If only one of them is active there is one equation for two unknowns, so the model is rejected before it
runs. Compare <code>LoopAtEvents</code>.</p></html>"));
end Deadlock;
