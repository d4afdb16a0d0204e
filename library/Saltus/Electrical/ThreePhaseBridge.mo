within Saltus.Electrical;
model ThreePhaseBridge "Six diodes between three phases and a direct side"
  parameter Units.Resistance Ron = 1e-5 "Resistance of a diode that conducts";
  parameter Units.Conductance Goff = 1e-5 "Conductance of a diode that blocks";
  Pin phase[3] "Alternating side";
  Pin p, n "Direct side";
  Diode upper[3](each Ron = Ron, each Goff = Goff) "From the phases to p";
  Diode lower[3](each Ron = Ron, each Goff = Goff) "From n to the phases";
equation
  for k in 1:3 loop
    connect(phase[k], upper[k].p);
    connect(upper[k].n, p);
    connect(n, lower[k].p);
    connect(lower[k].n, phase[k]);
  end for;
  annotation (Icon(graphics = {Rectangle(extent = {{-80, 80}, {80, -80}}, lineColor = {0, 0, 255}), Text(extent = {{-60, 30}, {60, -30}}, textString = "3~/=")}),
    Documentation(info = "<html><p>Where inductances feed the bridge, the current passes from one diode to the next while both conduct.</p></html>"));
end ThreePhaseBridge;
