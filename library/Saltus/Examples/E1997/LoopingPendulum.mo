within Saltus.Examples.E1997;
model LoopingPendulum "A pendulum too slow for its loop"
  extends Icons.Example;
  Mechanics.Pendulums.StringPendulum pendulum(l = 1, w0 = 6);
  Units.Energy energy = (if pendulum.mode == 0 then (pendulum.w*pendulum.l)^2/2 else (pendulum.vx^2 + pendulum.vy^2)/2) + Units.g_n*(pendulum.y + pendulum.l) "Of one kilogram, above rest";
  annotation (experiment(StopTime = 2, Tolerance = 1e-8), Documentation(info = "<html><p>Where the string would have to push, the mass leaves its circle and flies. When the string becomes taut again it takes the velocity along it away. The thesis exchanges two models; here
one model carries both motions and lets the states of the other one rest.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = pendulum.x), Curve(y = pendulum.y), Curve(y = pendulum.pull)})})}));
end LoopingPendulum;
