within Saltus.Mechanics.Pendulums;
model StringPendulum "A mass on a string that can become slack"
  parameter Units.Length l = 1 "Length of the string";
  parameter Units.Acceleration g = Units.g_n "Acceleration of gravity";
  parameter Units.AngularVelocity w0 = 6 "Angular velocity at the start, at the lowest point";
  Units.Angle phi(start = 0, fixed = true) "Angle while the string is taut, then the latest one";
  Units.AngularVelocity w(start = w0, fixed = true) "Angular velocity while the string is taut";
  Units.Length xf(start = 0, fixed = true) "Horizontal position while the mass flies";
  Units.Length yf(start = -l, fixed = true) "Height while the mass flies";
  Units.Velocity vx(start = 0, fixed = true) "Horizontal velocity while the mass flies";
  Units.Velocity vy(start = 0, fixed = true) "Vertical velocity while the mass flies";
  Units.Length x "Horizontal position from the suspension";
  Units.Length y "Height above the suspension";
  Units.Acceleration pull "Force in the string, for each unit of mass; zero while it is slack";
  Integer mode(start = Taut, fixed = true, min = Taut, max = Slack) "One of the three below";
  constant Integer Taut = 0 "The mass moves on a circle";
  constant Integer Leaving = 1 "It flies and is still close to the circle";
  constant Integer Slack = 2 "It flies inside the circle";
protected
  parameter Units.Length near = 1e-4*l "Closer to the circle than this is on it";
  Units.Length r = sqrt(xf^2 + yf^2) "Distance from the suspension while the mass flies";
equation
  der(phi) = if mode == Taut then w else 0;
  der(w) = if mode == Taut then -g/l*sin(phi) else 0;
  der(xf) = if mode == Taut then 0 else vx;
  der(yf) = if mode == Taut then 0 else vy;
  der(vx) = 0;
  der(vy) = if mode == Taut then 0 else -g;
  pull = if mode == Taut then w^2*l + g*cos(phi) else 0;
  x = if mode == Taut then l*sin(phi) else xf;
  y = if mode == Taut then -l*cos(phi) else yf;
  mode = if pre(mode) == Taut then (if w^2*l + g*cos(phi) < 0 then Leaving else Taut) else if pre(mode) == Leaving then (if r < l - near then Slack else if r > l + near then Taut else Leaving) else if r >= l then Taut else Slack;
  when mode == Leaving then
    reinit(xf, l*sin(phi));
    reinit(yf, -l*cos(phi));
    reinit(vx, w*l*cos(phi));
    reinit(vy, w*l*sin(phi));
  elsewhen mode == Taut and pre(mode) <> Taut then
    // The string takes the velocity along it away; it does not throw the mass back.
    reinit(phi, atan2(xf, -yf));
    reinit(w, (vy*xf - vx*yf)/l^2);
  end when;
  annotation (Icon(graphics = {Line(points = {{0, 80}, {30, 50}, {40, 0}, {50, -40}}, smooth = Smooth.Bezier), Ellipse(extent = {{35, -25}, {65, -55}}, fillColor = {0, 90, 160}, fillPattern = FillPattern.Solid)}),
    Documentation(info = "<html><p>One model that carries both motions: the angle while the string is taut and the position while it is slack; the states of the other motion rest.</p></html>"));
end StringPendulum;
