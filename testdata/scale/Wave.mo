model Wave "A string that is moved at one end and held at the other"
  parameter Integer n = 1000;
  Real u[n](each start = 0, each fixed = true);
  Real v[n](each start = 0, each fixed = true);
equation
  der(u) = v;
  der(v[1]) = sin(time) - 2*u[1] + u[2];
  for i in 2:n - 1 loop
    der(v[i]) = u[i - 1] - 2*u[i] + u[i + 1];
  end for;
  der(v[n]) = u[n - 1] - 2*u[n];
end Wave;
