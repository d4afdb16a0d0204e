// A state that becomes an ordinary variable: it grows to 5, then an equation says -5.
model JumpsToValue
  Real x(start = 0, fixed = true);
equation
  if time < 0.5 then
    der(x) = 10;
  else
    x = -5;
  end if;
  annotation(experiment(StopTime = 1));
end JumpsToValue;
// at t=0.4: x = 4 ± 1e-9 (closed form)
// at t=1: x = -5 ± 0 (the equation)
