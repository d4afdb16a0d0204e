within Saltus.Examples.Meta;
model LoopingPendulumDamped "The looping pendulum with the damping of the thesis"
  extends LoopingPendulum(damping = 0.2, w0 = 7);
  annotation (experiment(StopTime = 3, Tolerance = 1e-10), Documentation(info = "<html><p>State equation 1 of section 4.1 with its damping term <code>-d/m*w</code>; the numbers are chosen here.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = x), Curve(y = y), Curve(y = circle.pull)})})}));
end LoopingPendulumDamped;
