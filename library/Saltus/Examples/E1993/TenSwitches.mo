within Saltus.Examples.E1993;
model TenSwitches "Ten switches, 1024 structures, one program"
  extends Icons.Example;
  constant Integer n = 10 "Switches";
  Electrical.ConstantVoltage source(V = 1);
  Electrical.Resistor Ri(R = 100) "Couples all branches";
  Electrical.Resistor R[n](R = {100*2^(k - 1) for k in 1:n}) "In series with the switches";
  Electrical.Switch switches[n];
  Electrical.Ground ground;
  Integer position(start = 0, fixed = true) "Number of the position, 0 to 1023";
equation
  when sample(1, 1) then
    position = mod(pre(position) + 1, integer(2^n));
  end when;
  connect(source.p, Ri.p);
  for k in 1:n loop
    connect(Ri.n, switches[k].p);
    connect(switches[k].n, R[k].p);
    connect(R[k].n, ground.p);
    switches[k].open = mod(div(position, integer(2^(k - 1))), 2) == 0;
  end for;
  connect(source.n, ground.p);
  annotation (experiment(StopTime = 1023.5, Interval = 1), Documentation(info = "<html><p>A counter drives ten switches through all positions. Each switch is one equation in a common linear system, which is solved anew at each change. The current of the
source is another one in each position.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = position), Curve(y = Ri.i)})})}));
end TenSwitches;
