within Saltus.Examples.Meta;
model BallBoth "Fast impacts as events, slow ones resolved"
  extends Icons.Example;
  parameter Real alpha = 0.5 "Part of the speed that is left after a fast impact";
  parameter Units.Velocity fast = 1 "Impacts that are faster take no time";
  parameter Units.Length r = 0.05 "Radius";
  BallMicroscopic.Motion ball;
  BallMicroscopic.Contact contact(r = r, c = 0.2, x = ball.x, v = ball.v);
  Blocks.Constant free(k = 0) "No contact";
equation
  initialState(free);
  transition(free, free, ball.x - r <= 0 and ball.v < -fast, priority = 1);
  transition(free, contact, ball.x - r <= 0 and ball.v >= -fast and ball.v < 0, priority = 2);
  transition(contact, free, ball.x - r >= 0 and ball.v > 0);
  when activeState(free) then
    // From a contact the ball comes with its own velocity.
    reinit(ball.v, if pre(ball.v) < 0 then -alpha*pre(ball.v) else pre(ball.v));
  end when;
  connect(contact.a, ball.a);
  connect(free.y, ball.a);
  annotation (experiment(StopTime = 2.4, Interval = 0.005, Tolerance = 1e-10), Documentation(info = "<html><p>The macroscopic and the microscopic view of sections 4.1 and 4.2 of the thesis in one model: a fast impact changes the velocity, a slow one is a contact with spring and damper. Which of them is
decided by priorities.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = ball.x), Curve(y = ball.v)})})}));
end BallBoth;
