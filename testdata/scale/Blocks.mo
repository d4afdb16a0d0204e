model Blocks "Lags, each of which feeds the next one"
  block Lag
    input Real u;
    output Real y(start = 0, fixed = true);
    parameter Real T = 0.5;
  equation
    T*der(y) = u - y;
  end Lag;
  parameter Integer n = 1000;
  Lag b[n];
equation
  b[1].u = sin(time);
  for i in 2:n loop
    b[i].u = b[i - 1].y;
  end for;
end Blocks;
