// A switch that a variable holds in one position, because parameters give it its value: the pressure is prescribed, the
// mass follows from it and its derivative is the flow.
model HeldSwitch
  parameter Real height = 0;
  Real level = 2*height;
  Boolean above, reversed;
  Real p, m, flow_in;
equation
  above = level >= height;
  reversed = not above and flow_in > 0;
  if above then
    p = 2 + time;
  elseif reversed then
    p = 1;
  else
    flow_in = 0;
  end if;
  der(m) = flow_in;
  m = 3*p;
end HeldSwitch;
// at t=1: m = 9 ± 1e-9 (closed form: 3*(2 + t))
// at t=1: flow_in = 3 ± 1e-9 (closed form: its derivative)
