within Saltus.Examples.E2005;
model BouncingBall "A ball that may come to rest"
  extends Icons.Example;
  parameter Real e = 0.7 "Coefficient of restitution";
  parameter Units.Acceleration g = 9.81 "Acceleration of gravity";
  Units.Length h(start = 1, fixed = true) "Height of the ball";
  Units.Velocity v(start = 0, fixed = true) "Velocity of the ball";
  Boolean flying(start = true, fixed = true) "It flies";
  Boolean impact "It touches the ground";
  discrete Units.Velocity v_new(start = 0, fixed = true) "Velocity after the impact";
equation
  impact = h <= 0;
  der(v) = if flying then -g else 0;
  der(h) = v;
  when {impact, h <= 0 and v <= 0} then
    v_new = if edge(impact) then -e*pre(v) else 0;
    flying = v_new > 0;
    reinit(v, v_new);
  end when;
  annotation (experiment(StopTime = 2.5), Documentation(info = "<html><p>Impacts happen at times that are known in closed form; the paper finds them with an error of 5.2e-8 s. Should a rebound not lift the ball, the second condition makes it lie. The simulation
ends before the impacts accumulate at 2.5586 s.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = h), Curve(y = v)})})}));
end BouncingBall;
