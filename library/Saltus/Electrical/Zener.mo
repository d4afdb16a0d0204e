within Saltus.Electrical;
model Zener "Ideal diode that also conducts backwards at its breakdown voltage"
  parameter Units.Voltage Vz(final min = 0, start = 5) "Breakdown voltage";
  extends TwoPin;
  Real s(start = 0) "Parameter of the curve: volts while it blocks, else amperes from the ends of that range";
  Boolean forwards "It conducts forwards";
  Boolean backwards "It is broken down";
protected
  constant Units.Voltage unitVoltage = 1;
  constant Units.Current unitCurrent = 1;
equation
  forwards = s > 0;
  backwards = s*unitVoltage < -Vz;
  u = if forwards then 0 else if backwards then -Vz else s*unitVoltage;
  i = if forwards then s*unitCurrent else if backwards then (s + Vz/unitVoltage)*unitCurrent else 0;
  annotation (Icon(graphics = {Polygon(points = {{40, 0}, {-40, 40}, {-40, -40}, {40, 0}}, lineColor = {0, 0, 255}), Line(points = {{20, 40}, {40, 40}, {40, -40}, {60, -40}}, color = {0, 0, 255})}));
end Zener;
