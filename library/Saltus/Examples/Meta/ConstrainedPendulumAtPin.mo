within Saltus.Examples.Meta;
model ConstrainedPendulumAtPin "The string lies at the pin at the start"
  extends ConstrainedPendulum(phi0 = 0.3, phip = 0.2);
  annotation (experiment(StopTime = 10, Tolerance = 1e-9), Documentation(info = "<html><p>The default values of the listings in chapter 5 of the thesis: 0.3 and 0.2. The first transition fires at the start; at rest the change of the angular velocity changes nothing.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = phi), Curve(y = w)})})}));
end ConstrainedPendulumAtPin;
