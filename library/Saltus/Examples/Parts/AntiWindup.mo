within Saltus.Examples.Parts;
model AntiWindup "Two PID controllers at their limit; the integral of one winds up"
  extends Icons.Example;
  Blocks.LimitedPID good(k = 2, Ti = 1, Tt = 0.5, high = 1, low = -1);
  Blocks.LimitedPID bad(k = 2, Ti = 1, Tt = 1e6, high = 1, low = -1) "Follows its limited output so slowly that it does not matter";
  Real x1(start = 0, fixed = true), x2(start = 0, fixed = true) "Integrating plants";
  Real wanted = if time < 1 then 0 else 3;
equation
  good.u = wanted - x1;
  bad.u = wanted - x2;
  der(x1) = good.y;
  der(x2) = bad.y;
  annotation (experiment(StopTime = 20, Tolerance = 1e-8), Documentation(info = "<html><p>Both controllers are at their limit after the jump. The integral of one goes on growing and must be emptied by an overshoot. That of the other follows what really is put out.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = wanted), Curve(y = x1), Curve(y = x2)})})}));
end AntiWindup;
