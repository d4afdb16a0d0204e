within Saltus.Electrical;
model DiodeBridge "Four diodes that turn an alternating into a pulsating voltage"
  parameter Units.Resistance Ron = 0 "Resistance of a diode that conducts";
  parameter Units.Conductance Goff = 0 "Conductance of a diode that blocks";
  Pin a, b "Alternating side";
  Pin p, n "Direct side";
  Diode d1(Ron = Ron, Goff = Goff) "From a to p";
  Diode d2(Ron = Ron, Goff = Goff) "From b to p";
  Diode d3(Ron = Ron, Goff = Goff) "From n to a";
  Diode d4(Ron = Ron, Goff = Goff) "From n to b";
equation
  connect(a, d1.p);
  connect(d1.n, p);
  connect(b, d2.p);
  connect(d2.n, p);
  connect(n, d3.p);
  connect(d3.n, a);
  connect(n, d4.p);
  connect(d4.n, b);
  annotation (Icon(graphics = {Polygon(points = {{0, 80}, {80, 0}, {0, -80}, {-80, 0}, {0, 80}}, lineColor = {0, 0, 255}), Text(extent = {{-40, 30}, {40, -30}}, textString = "~/=")}));
end DiodeBridge;
