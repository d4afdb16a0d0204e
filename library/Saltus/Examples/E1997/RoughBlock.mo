within Saltus.Examples.E1997;
model RoughBlock "A block on a rough surface, pulled by a spring"
  extends Icons.Example;
  Mechanics.Translational.Position pull "Moves the free end of the spring";
  Mechanics.Translational.Spring spring(c = 100);
  Mechanics.Translational.Mass block1(m = 1, s(start = 0, fixed = true), v(start = 0, fixed = true));
  Mechanics.Translational.Damper air(d = 0.5);
  Mechanics.Translational.Friction surface(f0 = 2, peak = 1.25) "Breaks loose at 2.5 N";
  Mechanics.Translational.Fixed ground;
equation
  pull.s = 0.05*sin(2*Units.pi*0.4*time);
  connect(pull.flange, spring.a);
  connect(spring.b, block1.flange);
  connect(ground.flange, air.a);
  connect(air.b, block1.flange);
  connect(ground.flange, surface.a);
  connect(surface.b, block1.flange);
  annotation (experiment(StopTime = 5, Tolerance = 1e-8), Documentation(info = "<html><p>The spring is extended until its force exceeds 2.5 N; then the block slides against 2 N until it stops. It sticks again and again. The thesis uses π to six digits; here it is exact.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = block1.v), Curve(y = spring.f), Curve(y = surface.f)})})}));
end RoughBlock;
