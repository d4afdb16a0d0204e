within Saltus.Examples.E1997;
model BoundaryValue "How hard must the pendulum be pushed to reach the horizontal? (comparison 7, boundary value task)"
  extends Icons.Example;
  parameter Units.AngularVelocity w0 = -2 "Angular velocity at the start: what is searched for";
  Mechanics.Pendulums.PinnedPendulum pendulum(phi0 = Units.pi/6, w0 = w0, phip = -Units.pi/12, d = 0.2);
  Units.Angle phi = pendulum.phi "Angle; at the end that of the turning point";
equation
  when pendulum.w >= 0 then
    terminate("the pendulum turns");
  end when;
  annotation (experiment(StopTime = 2, Tolerance = 1e-9), Documentation(info = "<html><p>The pendulum starts at 30 degrees towards the pin, with an unknown velocity. The run ends where it turns; the turning point shall be at −90 degrees. The task is a search over
such runs: <code>saltus search Saltus.Examples.E1997.BoundaryValue --vary w0=-3:-1 --target phi=-1.5707963267948966</code></p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = pendulum.phi), Curve(y = pendulum.w)})})}));
end BoundaryValue;
