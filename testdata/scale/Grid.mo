model Grid "A plate that is kept at the temperatures of its edges"
  parameter Integer n = 32 "Cells along each side";
  Real T[n, n](each start = 300, each fixed = true);
equation
  for i in 2:n - 1 loop
    for j in 2:n - 1 loop
      der(T[i, j]) = T[i - 1, j] + T[i + 1, j] + T[i, j - 1] + T[i, j + 1] - 4*T[i, j];
    end for;
  end for;
  der(T[1, :]) = fill(1.0, n);
  der(T[n, :]) = zeros(n);
  der(T[2:n - 1, 1]) = zeros(n - 2);
  der(T[2:n - 1, n]) = zeros(n - 2);
end Grid;
