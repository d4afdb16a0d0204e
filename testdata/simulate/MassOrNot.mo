// Without mass the temperature is not a state: the condition decides the structure, not only the value.
model MassOrNot
  parameter Real m = 0;
  Real T(start = 1), q;
equation
  q = 3 - T;
  if m > 0 then
    m*der(T) = q;
  else
    q = 0;
  end if;
end MassOrNot;
// at t=1: T = 3 ± 1e-9 (closed form: q = 0, so T = 3)
