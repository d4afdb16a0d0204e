// The rectifier of the paper of 1993: an ideal diode is a switch that opens by itself.
model Rectifier
  parameter Real Ri = 10;
  parameter Real RL = 50;
  parameter Real C = 0.001;
  parameter Real f = 50;
  Boolean open;
  Real u0, uR, uD, i, iC;
  Real uC(start = 0, fixed = true);
equation
  u0 = sin(6.283185307179586 * f * time);
  u0 = uR + uD + uC;
  Ri * i = uR;
  open = uD <= 0 and not i > 0;
  0 = if open then i else uD;
  i = iC + uC / RL;
  C * der(uC) = iC;
  annotation (experiment(StopTime = 0.015));
end Rectifier;
// at t=0.015: i = 0 ± 1e-9 (closed form: the source is negative, the diode blocks)
