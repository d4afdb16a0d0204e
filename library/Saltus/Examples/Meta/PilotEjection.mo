within Saltus.Examples.Meta;
model PilotEjection "Does the pilot clear the tail? Rails, then flight"
  extends Icons.Example;
  model Motion "Relative to the aircraft (M2)"
    parameter Units.Velocity va "Velocity of the aircraft (M1)";
    Blocks.RealInput vp "Velocity of the pilot";
    Blocks.RealInput theta "Its angle to the horizontal";
    Units.Length x(start = 0, fixed = true) "Behind the seat if negative";
    Units.Length y(start = 0, fixed = true) "Above the seat";
  equation
    der(x) = vp*cos(theta) - va;
    der(y) = vp*sin(theta);
  end Motion;
  block Rails "The seat is guided: constant velocity (M3)"
    parameter Units.Velocity va, ve "Of the aircraft and of the ejection";
    parameter Units.Angle slope "Inclination of the rails, backwards";
    Blocks.RealOutput vp = sqrt((va - ve*sin(slope))^2 + (ve*cos(slope))^2);
    Blocks.RealOutput theta = atan2(ve*cos(slope), va - ve*sin(slope));
  end Rails;
  block Air "Drag and gravity (M4)"
    parameter Units.Mass m = 100 "Of pilot and seat";
    parameter Real c = 1 "Drag coefficient";
    parameter Units.Area s = 0.93 "Effective cross section";
    parameter Units.Density rho = 1.225 "Of the air";
    Blocks.RealOutput vp(start = 1) "Velocity of the pilot";
    Blocks.RealOutput theta(start = 0) "Its angle";
  equation
    der(vp) = -rho*c*s*vp^2/2/m - Units.g_n*sin(theta);
    der(theta) = -Units.g_n*cos(theta)/vp;
  end Air;
  parameter Units.Velocity va = 270 "Velocity of the aircraft";
  parameter Units.Velocity ve = 14 "Velocity of the ejection along the rails";
  parameter Units.Length yr = 1.2 "Height of the end of the rails";
  parameter Units.Length tail = 9 "Distance of the tail";
  parameter Units.Length fin = 3 "Height of the tail above the seat";
  Motion pilot(va = va);
  Rails rails(va = va, ve = ve, slope = 15*Units.pi/180);
  Air air;
  Boolean safe(start = false, fixed = true) "The pilot has passed above the tail";
equation
  initialState(rails);
  transition(rails, air, pilot.y >= yr);
  when activeState(air) then
    reinit(air.vp, pre(rails.vp));
    reinit(air.theta, pre(rails.theta));
  end when;
  connect(rails.vp, pilot.vp);
  connect(rails.theta, pilot.theta);
  connect(air.vp, pilot.vp);
  connect(air.theta, pilot.theta);
  when pilot.x <= -tail then
    safe = pilot.y > fin;
    terminate("the pilot passes the tail");
  end when;
  annotation (experiment(StopTime = 2, Tolerance = 1e-9), Documentation(info = "<html><p>Section 8.4.5 of the thesis: on the rails the velocity is a constant (two states), above them a model (four states). The links to the motion change with the state: two sources of one signal, of which one is active.
The thesis has no numbers; they are chosen here.</p>
<p>Its question, which velocity of ejection is safe: height and distance at the tail depend on <code>ve</code>, and the smallest safe one is where <code>pilot.y = fin</code> at the end of the run.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = pilot.x), Curve(y = pilot.y), Curve(y = pilot.vp)})})}));
end PilotEjection;
