within Saltus.Examples.Meta;
model ConstrainedPendulumOpposite "The pin is on the other side"
  extends ConstrainedPendulum(phi0 = 0.3, phip = -0.2);
  annotation (experiment(StopTime = 10, Tolerance = 1e-9), Documentation(info = "<html><p>The constrained pendulum of the thesis from 0.3 with the pin at -0.2.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = phi), Curve(y = w)})})}));
end ConstrainedPendulumOpposite;
