within Saltus.Examples.Meta;
model ConstrainedPendulum "A pendulum meets a pin: long and short are two models"
  extends Icons.Example;
  model Swing "A pendulum"
    parameter Units.Length l "Length";
    parameter Units.Rate damping "d/m";
    Units.Angle phi(start = 0, fixed = true) "Angle";
    Units.AngularVelocity w(start = 0, fixed = true) "Angular velocity";
  equation
    der(phi) = w;
    der(w) = -Units.g_n/l*sin(phi) - damping*w;
  end Swing;
  parameter Units.Length l = 1 "Length of the string";
  parameter Units.Length lp = 0.7 "Distance of the pin from the suspension";
  parameter Units.Mass m = 1.02 "Mass";
  parameter Units.Damping d = 0.2 "Damping";
  parameter Units.Angle phi0 = Units.pi/6 "Angle at the start";
  parameter Units.Angle phip = -Units.pi/12 "Angle at which the string meets the pin";
  Swing long(l = l, damping = d/m, phi(start = phi0));
  Swing short(l = l - lp, damping = d/m, phi(start = phi0));
  Units.Angle phi = if activeState(long) then long.phi else short.phi "Angle";
  Units.AngularVelocity w = if activeState(long) then long.w else short.w "Angular velocity";
equation
  initialState(long);
  transition(long, short, long.phi*phip >= phip^2);
  transition(short, long, short.phi*phip <= phip^2);
  when activeState(short) then
    reinit(short.phi, pre(long.phi));
    reinit(short.w, pre(long.w)*l/(l - lp));
  end when;
  when activeState(long) then
    reinit(long.phi, pre(short.phi));
    reinit(long.w, pre(short.w)*(l - lp)/l);
  end when;
  annotation (experiment(StopTime = 10, Tolerance = 1e-9), Documentation(info = "<html><p>Section 8.4.3 of the thesis (EUROSIM comparison 7), from 30 degrees with the pin at -15 degrees: <code>C1 = phi*phip &gt;= phip^2</code> and <code>C2 = phi*phip &lt;= phip^2</code>. M2 and M3, which change length and angular
velocity, are the entry equations.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = phi), Curve(y = w)})})}));
end ConstrainedPendulum;
