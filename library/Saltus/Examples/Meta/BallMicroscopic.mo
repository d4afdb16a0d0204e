within Saltus.Examples.Meta;
model BallMicroscopic "The bouncing ball: spring and damper are linked while it touches the ground"
  extends Icons.Example;
  model Motion "The ball (M1)"
    Blocks.RealInput a "Additional acceleration";
    Units.Length x(start = 1, fixed = true) "Height";
    Units.Velocity v(start = 0, fixed = true) "Velocity";
  equation
    der(x) = v;
    der(v) = -Units.g_n + a;
  end Motion;
  block Contact "Spring and damper (M2)"
    parameter Units.Mass m = 0.1 "Mass of the ball";
    parameter Units.Length r = 0.05 "Its radius";
    parameter Units.Stiffness k = 1000 "Stiffness";
    parameter Units.Damping c = 0.2 "Damping";
    input Units.Length x "Height of the ball";
    input Units.Velocity v "Its velocity";
    Blocks.RealOutput a = k*(r - x)/m - c*v/m "Acceleration by the contact";
  end Contact;
  parameter Units.Length r = 0.05 "Radius";
  Motion ball;
  Contact contact(r = r, x = ball.x, v = ball.v);
  Blocks.Constant free(k = 0) "No contact";
equation
  initialState(free);
  transition(free, contact, ball.x - r <= 0);
  transition(contact, free, ball.x - r >= 0);
  connect(contact.a, ball.a);
  connect(free.y, ball.a);
  annotation (experiment(StopTime = 3, Interval = 0.005, Tolerance = 1e-10), Documentation(info = "<html><p>Section 8.4.1 of the thesis, a change of components (class 3): the conditions are <code>x - r &gt;= 0</code> and <code>x - r &lt;= 0</code> as they stand there. Each of them
is enabled by being a transition of the state that is active.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = ball.x), Curve(y = ball.a)})})}));
end BallMicroscopic;
