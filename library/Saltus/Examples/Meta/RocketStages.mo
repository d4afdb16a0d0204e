within Saltus.Examples.Meta;
model RocketStages "Stages that are dropped, then a free flight"
  extends Icons.Example;
  model Stage "A burning stage with everything above it"
    parameter Units.Mass m0 "Mass at ignition";
    parameter Units.MassFlow burn "Fuel that is burnt";
    parameter Units.Velocity exhaust = 3000 "Velocity of the exhaust";
    Units.Mass m(start = m0, fixed = true) "Mass";
    Units.Velocity v(start = 0, fixed = true) "Velocity";
    Units.Length h(start = 0, fixed = true) "Height";
  equation
    der(m) = -burn;
    m*der(v) = exhaust*burn - m*Units.g_n;
    der(h) = v;
  end Stage;
  model Coast "The payload flies: its mass does not matter any more"
    Units.Velocity v(start = 0) "Velocity";
    Units.Length h(start = 0) "Height";
  equation
    der(v) = -Units.g_n;
    der(h) = v;
  end Coast;
  parameter Units.Mass fuel1 = 8000, fuel2 = 1000 "Fuel of the stages";
  Stage first(m0 = 12000, burn = 80);
  Stage second(m0 = 1500, burn = 10);
  Coast payload;
  Units.Length h = if activeState(first) then first.h elseif activeState(second) then second.h else payload.h "Height";
  Units.Velocity v = if activeState(first) then first.v elseif activeState(second) then second.v else payload.v "Velocity";
equation
  initialState(first);
  transition(first, second, first.m <= first.m0 - fuel1);
  transition(second, payload, second.m <= second.m0 - fuel2);
  when activeState(second) then
    reinit(second.v, pre(first.v));
    reinit(second.h, pre(first.h));
  end when;
  when activeState(payload) then
    reinit(payload.v, pre(second.v));
    reinit(payload.h, pre(second.h));
  end when;
  annotation (experiment(StopTime = 300, Tolerance = 1e-9), Documentation(info = "<html><p>The empty first stage is dropped: the second one begins with a mass of its own and goes on with velocity and height; without fuel there are two states left. Constant gravity, no air; numbers are chosen here.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = h), Curve(y = v)})})}));
end RocketStages;
