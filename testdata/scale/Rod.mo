model Rod "Heat that flows along a rod, one end of which is heated"
  parameter Integer n = 1000;
  Real T[n](each start = 300, each fixed = true);
  Real q[n + 1];
equation
  q[1] = 10*(400 - T[1]);
  for i in 2:n loop
    q[i] = 10*(T[i - 1] - T[i]);
  end for;
  q[n + 1] = 0;
  for i in 1:n loop
    der(T[i]) = (q[i] - q[i + 1])/5;
  end for;
end Rod;
