within Saltus.Examples.E1999;
model SampledController "Continuous plant with a discrete controller (figure 1)"
  extends Icons.Example;
  parameter Units.Time Ts = 0.1 "Time between two samples";
  parameter Real r = 1 "Wanted output of the plant";
  parameter Real A = 1, B = 0.1, C = 1, D = 2 "Of the controller";
  Real xp(start = 0, fixed = true) "State of the plant";
  Real y "Output of the plant";
  discrete Real xc(start = 0, fixed = true) "State of the controller";
  discrete Real u(start = 0, fixed = true) "Input of the plant";
equation
  der(xp) = -xp + u;
  y = xp;
  when sample(0, Ts) then
    xc = A*pre(xc) + B*(r - y);
    u = C*pre(xc) + D*(r - y);
  end when;
  annotation (experiment(StopTime = 5), Documentation(info = "<html><p>A plant of first order is controlled by a discrete linear controller. At the sample instants the controller equations are sorted together with
those of the plant, so nothing is delayed by accident. Between them its output is held.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = y), Curve(y = u), Curve(y = xc)})})}));
end SampledController;
