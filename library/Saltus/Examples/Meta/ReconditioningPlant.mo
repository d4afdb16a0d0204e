within Saltus.Examples.Meta;
model ReconditioningPlant "Sludge is cleaned in two tanks: processes that start and stop"
  extends Icons.Example;
  model Pumping "A pump at work (M3, M4, M5)"
    parameter Units.VolumeFlow qOn "Flow";
    Blocks.RealInput c "Concentration where it takes the liquid from";
    Blocks.RealOutput q = qOn "Flow that it takes";
    Tanks.Outlet outlet;
  equation
    outlet.q = q;
    outlet.c = c;
  end Pumping;
  model Resting "A pump at rest"
    Blocks.RealOutput q = 0;
    Tanks.Outlet outlet;
  equation
    outlet.q = 0;
    outlet.c = 0;
  end Resting;
  parameter Units.Concentration threshold1 = 4 "Tank 1 may be pumped on below this";
  parameter Units.Concentration threshold2 = 1 "Tank 2 may be emptied below this";
  parameter Units.Volume keep = 0.5 "Pumps stop at this volume";
  Tanks.Tank tank1(A = 2, capacity = 10, decay = 0.02, V0 = 10, c0 = 8) "M1";
  Tanks.Tank tank2(A = 2, capacity = 10, decay = 0.03, V0 = 10, c0 = 3) "M2";
  Tanks.Source raw(c = 8);
  Tanks.Sink furnace;
  Pumping fill(qOn = 0.1), pass(qOn = 0.12, c = tank1.c), empty(qOn = 0.15, c = tank2.c);
  Resting noFill, noPass, noEmpty;
  Units.Mass decayed(start = 0, fixed = true) "Pollutant that vanished";
equation
  initialState(noEmpty);
  transition(noEmpty, empty, tank2.c < threshold2 and tank2.V > 5 and activeState(noPass));
  transition(empty, noEmpty, tank2.V <= keep);
  initialState(noPass);
  transition(noPass, pass, tank1.c < threshold1 and tank1.V > 5 and tank2.V < 1 and activeState(noEmpty));
  transition(pass, noPass, tank1.V <= keep or tank2.V >= tank2.capacity);
  initialState(noFill);
  transition(noFill, fill, tank1.V < 1 and activeState(noPass));
  transition(fill, noFill, tank1.V >= tank1.capacity);
  connect(raw.concentration, fill.c);
  connect(fill.outlet, tank1.inlet);
  connect(noFill.outlet, tank1.inlet);
  connect(pass.q, tank1.qOut);
  connect(noPass.q, tank1.qOut);
  connect(pass.outlet, tank2.inlet);
  connect(noPass.outlet, tank2.inlet);
  connect(empty.q, tank2.qOut);
  connect(noEmpty.q, tank2.qOut);
  connect(empty.outlet, furnace.inlet);
  connect(noEmpty.outlet, furnace.inlet);
  der(decayed) = tank1.decay*tank1.pollutant + tank2.decay*tank2.pollutant;
  annotation (experiment(StopTime = 1000, Tolerance = 1e-8), Documentation(info = "<html><p>Section 8.4.6 of the thesis: the tanks are always there, the processes of emptying, passing on and filling are linked to them when their conditions hold. Three regions run side by side; what one does
is a condition of the others. As the thesis asks for, the pumps start only when it pays.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = tank1.V), Curve(y = tank2.V), Curve(y = tank1.c), Curve(y = tank2.c)})})}));
end ReconditioningPlant;
