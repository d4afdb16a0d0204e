within Saltus.Examples.E1997;
model ReconditioningPlant "Sludge is cleaned in two tanks before it is burnt"
  extends Icons.Example;
  parameter Units.Concentration threshold1 = 4 "Tank 1 may be pumped on below this";
  parameter Units.Concentration threshold2 = 1 "Tank 2 may be emptied below this";
  parameter Units.Volume keep = 0.5 "Pumps stop at this volume";
  Tanks.Tank tank1(A = 2, capacity = 10, decay = 0.02, V0 = 10, c0 = 8);
  Tanks.Tank tank2(A = 2, capacity = 10, decay = 0.03, V0 = 10, c0 = 3);
  Tanks.Source raw(c = 8);
  Tanks.Pump fill(qOn = 0.1) "Into tank 1";
  Tanks.Pump pass(qOn = 0.12) "From tank 1 to tank 2";
  Tanks.Pump empty(qOn = 0.15) "From tank 2 to the furnace";
  Tanks.Sink furnace;
  Units.Mass decayed(start = 0, fixed = true) "Pollutant that vanished";
equation
  connect(raw.concentration, fill.c);
  connect(fill.outlet, tank1.inlet);
  connect(pass.q, tank1.qOut);
  pass.c = tank1.c;
  connect(pass.outlet, tank2.inlet);
  connect(empty.q, tank2.qOut);
  empty.c = tank2.c;
  connect(empty.outlet, furnace.inlet);
  // A pump starts when there is enough to do and stops when there is nothing left or no room.
  empty.on = if pre(empty.on) then tank2.V > keep and not pass.on else tank2.c < threshold2 and tank2.V > 5 and not pass.on;
  pass.on = if pre(pass.on) then tank1.V > keep and tank2.V < tank2.capacity else tank1.c < threshold1 and tank1.V > 5 and tank2.V < 1 and not pre(empty.on);
  fill.on = if pre(fill.on) then tank1.V < tank1.capacity else tank1.V < 1 and not pre(pass.on);
  der(decayed) = tank1.decay*tank1.pollutant + tank2.decay*tank2.pollutant;
initial equation
  pre(empty.on) = false;
  pre(pass.on) = false;
  pre(fill.on) = false;
  annotation (experiment(StopTime = 1000, Tolerance = 1e-8), Documentation(info = "<html><p>Tank 2 is emptied into the furnace when it is clean enough, then tank 1 is pumped into tank 2, then tank 1 is refilled. The pollutant decays in both tanks all the time. As the thesis asks for, the
pumps have thresholds so that they start only when it pays.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = tank1.V), Curve(y = tank2.V), Curve(y = tank1.c), Curve(y = tank2.c)})})}));
end ReconditioningPlant;
