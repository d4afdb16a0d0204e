within Saltus.Electrical;
partial model Semiconductor "Element that blocks or conducts, as a parameterised curve"
  parameter Units.Resistance Ron(final min = 0) = 0 "Resistance while it conducts";
  parameter Units.Conductance Goff(final min = 0) = 0 "Conductance while it blocks";
  parameter Units.Voltage Vknee(final min = 0) = 0 "Voltage at which it begins to conduct";
  extends TwoPin;
  Real s(start = 0) "Parameter of the curve: volts above the knee while it blocks, amperes while it conducts";
  Boolean off(start = true) "It blocks";
protected
  constant Units.Voltage unitVoltage = 1;
  constant Units.Current unitCurrent = 1;
equation
  u = Vknee + (if off then s*unitVoltage else s*unitCurrent*Ron);
  i = Goff*Vknee + (if off then s*unitVoltage*Goff else s*unitCurrent);
  annotation (Icon(graphics = {Polygon(points = {{40, 0}, {-40, 40}, {-40, -40}, {40, 0}}, lineColor = {0, 0, 255}), Line(points = {{40, 40}, {40, -40}}, color = {0, 0, 255}), Line(points = {{-60, 0}, {60, 0}}, color = {0, 0, 255})}),
    Documentation(info = "<html><p>A curve that is no function of the voltage is one of a parameter <code>s</code> along it. The classes that extend this one say when it
is on which branch.</p></html>"));
end Semiconductor;
