within Saltus.Examples.Meta;
model BallMacroscopic "The bouncing ball: an impact initialises it anew"
  extends Icons.Example;
  model Fall "The ball (M1)"
    Units.Length x(start = 1, fixed = true) "Height";
    Units.Velocity v(start = 0, fixed = true) "Velocity";
  equation
    der(x) = v;
    der(v) = -Units.g_n;
  end Fall;
  parameter Real alpha = 0.8 "Part of the speed that is left after an impact";
  Fall ball;
equation
  initialState(ball);
  transition(ball, ball, ball.x <= 0 and ball.v <= 0, reset = false);
  when activeState(ball) then
    reinit(ball.v, -alpha*pre(ball.v));
  end when;
  annotation (experiment(StopTime = 3, Tolerance = 1e-8), Documentation(info = "<html><p>Section 8.4.1 of the thesis, a change of a state variable (class 2): <code>C1 = (x &lt;= 0) AND (v &lt;= 0)</code>, <code>A1 = init(v = -alpha*v)</code>. The ball is left and entered; without <code>reset</code> it
goes on with its height.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = ball.x), Curve(y = ball.v)})})}));
end BallMacroscopic;
