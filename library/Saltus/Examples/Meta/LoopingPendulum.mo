within Saltus.Examples.Meta;
model LoopingPendulum "Taut on a circle, slack in free flight, taut again"
  extends Icons.Example;
  model Circle "The string is taut: polar co-ordinates"
    parameter Units.Length l = 1 "Length of the string";
    parameter Units.Rate damping = 0 "Damping d/m";
    Units.Angle phi(start = 0, fixed = true) "Angle";
    Units.AngularVelocity w(start = 6, fixed = true) "Angular velocity";
    Units.Acceleration pull = w^2*l + Units.g_n*cos(phi) "Force in the string, for each unit of mass";
  equation
    der(phi) = w;
    der(w) = -Units.g_n/l*sin(phi) - damping*w;
  end Circle;
  model Flight "The string is slack: Cartesian co-ordinates"
    Units.Length x(start = 0), y(start = 0) "Position from the suspension";
    Units.Velocity vx(start = 0), vy(start = 0) "Velocity";
  equation
    der(x) = vx;
    der(y) = vy;
    der(vx) = 0;
    der(vy) = -Units.g_n;
  end Flight;
  parameter Units.Length l = 1 "Length of the string";
  parameter Units.AngularVelocity w0 = 6 "Angular velocity at the lowest point";
  parameter Units.Rate damping = 0 "Damping d/m of the motion on the circle";
  Circle circle(l = l, damping = damping, w(start = w0));
  Flight flight;
  Units.Length x = if activeState(circle) then l*sin(circle.phi) else flight.x "Horizontal position";
  Units.Length y = if activeState(circle) then -l*cos(circle.phi) else flight.y "Height above the suspension";
equation
  initialState(circle);
  transition(circle, flight, circle.pull < 0);
  transition(flight, circle, flight.x^2 + flight.y^2 >= l^2 and flight.x*flight.vx + flight.y*flight.vy > 0);
  when activeState(flight) then
    reinit(flight.x, l*sin(pre(circle.phi)));
    reinit(flight.y, -l*cos(pre(circle.phi)));
    reinit(flight.vx, l*cos(pre(circle.phi))*pre(circle.w));
    reinit(flight.vy, l*sin(pre(circle.phi))*pre(circle.w));
  end when;
  when activeState(circle) then
    // The string takes the velocity along it away.
    reinit(circle.phi, atan2(pre(flight.x), -pre(flight.y)));
    reinit(circle.w, (pre(flight.x)*pre(flight.vy) - pre(flight.y)*pre(flight.vx))/l^2);
  end when;
  annotation (experiment(StopTime = 2, Tolerance = 1e-10), Documentation(info = "<html><p>Sections 4.1 and 8.4.2 of the thesis, a change of structure (class 4): two states on the circle, four in flight. The entry equations are the interface model.</p>
<p>Errata of the thesis: condition C2 of section 8.4.2, <code>l - r &gt;= 0</code>, has the wrong sign (it holds during the whole flight); the map back to the circle in section 4.1, <code>y cos(phi) + y sin(phi)</code>, is not the
angular velocity, which is the part of the velocity along the circle, <code>(x vy - y vx)/l^2</code>; and <code>|cos(phi)|</code> in the condition of the string is <code>-cos(phi)</code>, so that the lower half of the circle does not count as slack.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = x), Curve(y = y), Curve(y = circle.pull)})})}));
end LoopingPendulum;
