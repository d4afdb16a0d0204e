within Saltus.Examples.E1999;
model FrictionFull "A block with the friction of figure 12: it takes more to break loose than to slide"
  extends Icons.Example;
  Mechanics.Translational.Fixed ground;
  Mechanics.Translational.Friction friction(f0 = 1, f1 = 0.5, peak = 1.5);
  Mechanics.Translational.Mass block1(m = 1, s(start = 0, fixed = true), v(start = 0, fixed = true));
  Mechanics.Translational.Force drive;
equation
  drive.f = 2*sin(time);
  connect(ground.flange, friction.a);
  connect(friction.b, block1.flange);
  connect(drive.flange, block1.flange);
  annotation (experiment(StopTime = 12), Documentation(info = "<html><p>The element knows five modes: it slides, begins to slide (each in two directions) or is stuck. To break loose takes half as much again as to keep sliding. The same block
with the simplified element starts earlier.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = drive.f), Curve(y = friction.f), Curve(y = block1.v), Curve(y = friction.mode)})})}));
end FrictionFull;
