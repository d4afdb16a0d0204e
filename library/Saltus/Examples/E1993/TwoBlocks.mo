within Saltus.Examples.E1993;
model TwoBlocks "Two blocks on each other, with dry friction (figure 7)"
  extends Icons.Example;
  Mechanics.Translational.Fixed i;
  Mechanics.Translational.Mass m1(m = 1, s(start = 0, fixed = true), v(start = 0, fixed = true));
  Mechanics.Translational.Mass m2(m = 2, s(start = 0, fixed = true), v(start = 0, fixed = true));
  Mechanics.Translational.FrictionAutomaton f1(R0 = 10, Rm = 8), f2(R0 = 5, Rm = 4);
  Mechanics.Translational.Force fe1, fe2;
equation
  fe1.f = 14*sin(2*time);
  fe2.f = 8*sin(3*time + 1);
  connect(i.flange, f1.a);
  connect(f1.b, m1.flange);
  connect(m1.flange, f2.a);
  connect(f2.b, m2.flange);
  connect(fe1.flange, m1.flange);
  connect(fe2.flange, m2.flange);
  annotation (experiment(StopTime = 6, Tolerance = 1e-8), Documentation(info = "<html><p>The lower block rubs on the ground and the upper block on the lower one. Each contact is stuck or slides, so there are four structures in one model. The paper names no
forces; here they are sinusoidal.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = m1.v), Curve(y = m2.v), Curve(y = fe1.f), Curve(y = fe2.f), Curve(y = f1.f), Curve(y = f2.f)})})}));
end TwoBlocks;
