within Saltus.Examples.Parts;
model LevelControl "A tank that is filled and emptied"
  extends Icons.Example;
  Tanks.Tank tank(A = 1, capacity = 2, V0 = 0.5);
  Tanks.Source water;
  Tanks.Pump pump(qOn = 0.02);
  Tanks.Valve outlet(A = 0.002);
  Tanks.LevelControl control(low = 0.2, high = 0.8);
  Tanks.Sink sink;
equation
  connect(water.concentration, pump.c);
  connect(pump.outlet, tank.inlet);
  connect(control.on, pump.on);
  control.level = tank.level;
  outlet.level = tank.level;
  outlet.c = tank.c;
  outlet.open = not pump.on;
  connect(outlet.q, tank.qOut);
  connect(outlet.outlet, sink.inlet);
  annotation (experiment(StopTime = 300), Documentation(info = "<html><p>The pump fills the tank to 0.8 m, then the valve empties it to 0.2 m. While it is filled the level rises linearly. While it is emptied its square root falls linearly.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = tank.level), Curve(y = pump.q), Curve(y = outlet.q)})})}));
end LevelControl;
