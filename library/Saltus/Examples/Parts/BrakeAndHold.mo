within Saltus.Examples.Parts;
model BrakeAndHold "A brake stops a shaft and holds it against a torque"
  extends Icons.Example;
  Mechanics.Rotational.Inertia shaft(J = 1, phi(start = 0, fixed = true), w(start = 4, fixed = true));
  Mechanics.Rotational.Brake brake(tauMax = 2, peak = 1.5, clutch(mode(start = 1)));
  Mechanics.Rotational.Torque load;
equation
  load.tau = if time < 3 then 0 else time - 3;
  brake.u = 1;
  connect(shaft.b, brake.a);
  connect(load.flange, shaft.a);
  annotation (experiment(StopTime = 8, Tolerance = 1e-8), Documentation(info = "<html><p>The shaft stops after two seconds and stays, although from three seconds on a growing torque pulls at it. It breaks loose when that reaches one and a half times the sliding torque. Then
it accelerates.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = shaft.w), Curve(y = load.tau), Curve(y = brake.clutch.tau)})})}));
end BrakeAndHold;
