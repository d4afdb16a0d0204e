within Saltus.Examples.E1997;
model ConstrainedPendulum "A pendulum meets a pin (EUROSIM comparison 7)"
  extends Icons.Example;
  Mechanics.Pendulums.PinnedPendulum pendulum(phi0 = Units.pi/6, w0 = 0, phip = -Units.pi/12, d = 0.2);
  annotation (experiment(StopTime = 10, Tolerance = 1e-8), Documentation(info = "<html><p>When the string meets the pin, a shorter pendulum goes on. The mass keeps its velocity, so its angular velocity jumps by the ratio of the lengths. A parameter and a
state change in the same event.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = pendulum.phi), Curve(y = pendulum.w)})})}));
end ConstrainedPendulum;
