// An ideal diode in series with a resistor: the switch equation is solved inside its loop, in both positions.
model IdealRectifier
  parameter Real R = 2;
  constant Real pi = 3.141592653589793;
  Real s, u, i;
  Boolean off;
equation
  off = s < 0;
  u = if off then s else 0;
  i = if off then 0 else s;
  u + R*i = sin(2*pi*time);
  annotation (experiment(StopTime = 0.75));
end IdealRectifier;
// at t=0.25: i = 0.5 ± 1e-6 (closed form: sin(2*pi*t)/R while the source is positive)
// at t=0.75: u = -1 ± 1e-6 (closed form: the diode blocks, all voltage is across it)
// at t=0.75: i = 0 ± 1e-9 (closed form: the diode blocks)
