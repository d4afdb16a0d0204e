within Saltus.Examples.E1997;
model BallMicroscopic "The bouncing ball, the impact as an elastic process"
  extends Icons.Example;
  parameter Units.Mass m = 0.1 "Mass";
  parameter Units.Length r = 0.05 "Radius";
  Mechanics.Translational.Fixed ground;
  Mechanics.Translational.ElasticContact contact(c = 1000, d = 0.2, s0 = r);
  Mechanics.Translational.Mass ball(m = m, s(start = 1, fixed = true), v(start = 0, fixed = true));
  Mechanics.Translational.Force weight;
equation
  weight.f = -m*Units.g_n;
  connect(ground.flange, contact.a);
  connect(contact.b, ball.flange);
  connect(weight.flange, ball.flange);
  annotation (experiment(StopTime = 3, Interval = 0.005, Tolerance = 1e-8), Documentation(info = "<html><p>Seen closely an impact is an oscillation: spring and damper act while the ball touches the ground. A contact takes about 30 ms. There is an event when it begins and one when it ends.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = ball.s), Curve(y = contact.f)})})}));
end BallMicroscopic;
