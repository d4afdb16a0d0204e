within Saltus.Examples.E1999;
model BouncingBall1 "The ball that loses half of its speed at each impact"
  extends Icons.Example;
  parameter Real e(min = 0, max = 1) = 0.5 "Part of the speed that is left after an impact";
  parameter Units.Acceleration g = 9.81 "Acceleration of gravity";
  Units.Length h(start = 1, fixed = true) "Height";
  Units.Velocity v(start = 0, fixed = true) "Velocity";
equation
  der(h) = v;
  der(v) = -g;
  when h <= 0 then
    reinit(v, -e*pre(v));
  end when;
  annotation (experiment(StopTime = 1.3), Documentation(info = "<html><p>Each flight takes half the time of the one before, so that infinitely many of them end after 1.3546 s. The simulation stops before that. Simulated further, Saltus
reports the accumulation instead of letting the ball fall through the ground.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = h), Curve(y = v)})})}));
end BouncingBall1;
