within Saltus.Examples.Parts;
model ClutchEngagement "A turning shaft is coupled to one at rest"
  extends Icons.Example;
  Mechanics.Rotational.Inertia driving(J = 1, phi(start = 0, fixed = true), w(start = 10, fixed = true));
  Mechanics.Rotational.Clutch clutch(tauMax = 5, mode(start = -1));
  Mechanics.Rotational.Inertia driven(J = 2, phi(start = 0, fixed = true), w(start = 0, fixed = true));
  Mechanics.Rotational.Torque motor, load;
equation
  motor.tau = 0;
  load.tau = if time < 4 then 0 else -6*(time - 4);
  clutch.u = if time < 1 then 0 else 1;
  connect(motor.flange, driving.a);
  connect(driving.b, clutch.a);
  connect(clutch.b, driven.a);
  connect(driven.b, load.flange);
  annotation (experiment(StopTime = 8, Tolerance = 1e-8), Documentation(info = "<html><p>From one second on the clutch takes speed from one shaft and gives it to the other until both turn alike. They stay together until the load needs more than friction can
carry. Momentum is conserved while nothing acts from outside.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = driving.w), Curve(y = driven.w), Curve(y = clutch.tau)})})}));
end ClutchEngagement;
