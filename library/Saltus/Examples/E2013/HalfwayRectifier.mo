within Saltus.Examples.E2013;
model HalfwayRectifier "Half-wave rectifier with the algebraic form of the diode"
  extends Icons.Example;
  parameter Units.Resistance Ri = 10, RL = 50;
  parameter Units.Capacitance C = 1e-3;
  Units.Voltage U0 = sin(2*Units.pi*50*time), u1, ud, u2(start = 0, fixed = true);
  Units.Current i0, iR, iC;
  Real s "Parameter of the curve";
  Integer mo "1 while the diode blocks, 0 while it conducts";
equation
  u1 = Ri*i0;
  u2 = RL*iR;
  iC = C*der(u2);
  U0 = u1 + ud + u2;
  i0 = iC + iR;
  ud = mo*s;
  i0 = (1 - mo)*s;
  mo = if s < 0 then 1 else 0;
  annotation (experiment(StopTime = 0.1), Documentation(info = "<html><p>Written as in the lecture, without components. The integer selects the branch by multiplication instead of by a condition. The curve parameter is what the system is solved for.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = U0), Curve(y = u2), Curve(y = i0), Curve(y = mo)})})}));
end HalfwayRectifier;
