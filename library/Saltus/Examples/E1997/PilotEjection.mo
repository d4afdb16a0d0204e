within Saltus.Examples.E1997;
model PilotEjection "Does the pilot clear the tail?"
  extends Icons.Example;
  parameter Units.Velocity va = 270 "Velocity of the aircraft";
  parameter Units.Velocity ve = 14 "Velocity of the ejection along the rails";
  parameter Units.Angle theta = 15*Units.pi/180 "Inclination of the rails, backwards";
  parameter Units.Length yr = 1.2 "Height of the end of the rails";
  parameter Units.Mass m = 100 "Of pilot and seat";
  parameter Real c = 1 "Drag coefficient";
  parameter Units.Area s = 0.93 "Effective cross section";
  parameter Units.Density rho = 1.225 "Of the air";
  Units.Length x(start = 0, fixed = true) "Behind the seat if negative";
  Units.Length y(start = 0, fixed = true) "Above the seat";
  Units.Velocity vp(start = sqrt((va - ve*sin(theta))^2 + (ve*cos(theta))^2), fixed = true) "Velocity of the pilot";
  Units.Angle thetap(start = atan2(ve*cos(theta), va - ve*sin(theta)), fixed = true) "Its angle to the horizontal";
  Boolean inRails "The seat is guided";
protected
  Units.Force D = rho*c*s*vp^2/2 "Drag";
equation
  inRails = y < yr;
  der(x) = vp*cos(thetap) - va;
  der(y) = vp*sin(thetap);
  der(vp) = if inRails then 0 else -D/m - Units.g_n*sin(thetap);
  der(thetap) = if inRails then 0 else -Units.g_n*cos(thetap)/vp;
  when x <= -9 then
    terminate("the pilot passes the tail");
  end when;
  annotation (experiment(StopTime = 2, Tolerance = 1e-8), Documentation(info = "<html><p>The seat moves along rails with constant velocity. Above them drag and gravity begin to act. The run ends where the tail is, 9 m behind the cockpit; numbers are chosen here, the thesis has none.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = x), Curve(y = y), Curve(y = vp)})})}));
end PilotEjection;
