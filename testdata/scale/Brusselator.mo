model Brusselator "Two reactants that diffuse in a closed square"
  parameter Integer n = 100;
  parameter Real a = 0.002*(n - 1)^2;
  Real u[n, n](start={{0.5 + (j - 1)/(n - 1) for j in 1:n} for i in 1:n}, each fixed=true);
  Real w[n, n](start={{1 + 5*(i - 1)/(n - 1) for j in 1:n} for i in 1:n}, each fixed=true);
equation
  for i in 1:n loop
    for j in 1:n loop
      der(u[i, j]) = 1 + u[i, j]^2*w[i, j] - 4.4*u[i, j] + a*((if i > 1 then u[i-1, j] - u[i, j] else 0) + (if i < n then u[i+1, j] - u[i, j] else 0)
          + (if j > 1 then u[i, j-1] - u[i, j] else 0) + (if j < n then u[i, j+1] - u[i, j] else 0));
      der(w[i, j]) = 3.4*u[i, j] - u[i, j]^2*w[i, j] + a*((if i > 1 then w[i-1, j] - w[i, j] else 0) + (if i < n then w[i+1, j] - w[i, j] else 0)
          + (if j > 1 then w[i, j-1] - w[i, j] else 0) + (if j < n then w[i, j+1] - w[i, j] else 0));
    end for;
  end for;
  annotation (experiment(StopTime=10));
end Brusselator;
