within Saltus.Examples.E1997;
model ConstrainedPendulumLinear "The same pendulum, linearised beside the nonlinear one"
  extends Icons.Example;
  Mechanics.Pendulums.PinnedPendulum linear(phi0 = Units.pi/6, phip = -Units.pi/12, d = 0.2, linear = true);
  Mechanics.Pendulums.PinnedPendulum nonlinear(phi0 = Units.pi/6, phip = -Units.pi/12, d = 0.2);
  Units.Angle difference = linear.phi - nonlinear.phi "What the linearisation changes";
  annotation (experiment(StopTime = 10, Tolerance = 1e-8), Documentation(info = "<html><p>The second task of comparison 7 replaces the sine by its argument. The linear pendulum swings faster, so the two meet the pin at different times. After ten seconds they are out
of step.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = linear.phi), Curve(y = nonlinear.phi)})})}));
end ConstrainedPendulumLinear;
