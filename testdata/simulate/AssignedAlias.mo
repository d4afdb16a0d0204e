// Variables that an algorithm assigns are eliminated where an equation makes them equal to others, up to sign.
model AssignedAlias
  Real r[2], s, u, x(start = 0, fixed = true), y;
algorithm
  for i in 1:2 loop
    r[i] := i*time;
  end for;
  y := 3 - time;
equation
  s = r[1];
  u = -r[2];
  der(x) = -y;
  annotation (experiment(StopTime = 2));
end AssignedAlias;
// at t=2: s = 2 ± 1e-12 (closed form: t)
// at t=2: u = -4 ± 1e-12 (closed form: -2*t)
// at t=2: x = -4 ± 1e-9 (closed form: t^2/2 - 3*t)
