// The half-wave rectifier with a diode whose characteristic is parametrised by s: dividing by zero is avoided in both
// positions by choosing s as iteration variable.
model DiodeByParameter
  parameter Real Ri = 10;
  parameter Real RL = 50;
  parameter Real C = 0.001;
  Boolean open;
  Real u0, u1, ud, i0, iC, iR, s;
  Real u2(start = 0, fixed = true);
equation
  u0 = sin(314.1592653589793 * time);
  u1 = Ri * i0;
  u2 = RL * iR;
  C * der(u2) = iC;
  u0 = u1 + ud + u2;
  i0 = iC + iR;
  open = s < 0;
  ud = if open then s else 0;
  i0 = if open then 0 else s;
  annotation (experiment(StopTime = 0.015));
end DiodeByParameter;
// at t=0.015: i0 = 0 ± 1e-9 (closed form: the source is negative, the diode blocks)
