within Saltus.Examples.Parts;
model FreeWheel "A one-way clutch between a pedal and a wheel"
  extends Icons.Example;
  Mechanics.Rotational.Inertia pedal(J = 1, phi(start = 0, fixed = true), w(start = 0, fixed = true));
  Mechanics.Rotational.OneWayClutch clutch;
  Mechanics.Rotational.Inertia wheel(J = 3, phi(start = 0, fixed = true), w(start = 0, fixed = true));
  Mechanics.Rotational.Torque foot;
  Mechanics.Rotational.Torque road;
equation
  foot.tau = if time < 2 then 4 else if time < 3 then -1 else 2;
  road.tau = 0;
  connect(foot.flange, pedal.a);
  connect(pedal.b, clutch.a);
  connect(clutch.b, wheel.a);
  connect(wheel.b, road.flange);
  annotation (experiment(StopTime = 5, Tolerance = 1e-8), Documentation(info = "<html><p>The pedal drives the wheel for two seconds. When it is held back the wheel runs ahead. When it has caught up they turn together again.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = pedal.w), Curve(y = wheel.w), Curve(y = clutch.locked)})})}));
end FreeWheel;
