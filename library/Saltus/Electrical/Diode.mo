within Saltus.Electrical;
model Diode "Diode as a parameterised curve"
  extends Semiconductor;
equation
  off = s < 0;
end Diode;
