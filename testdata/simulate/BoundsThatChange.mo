// Ranges, sections and reductions of algorithm sections with bounds that change during the simulation (specification 11.2.2).
model BoundsThatChange
  constant Integer m = 5;
  Real x[m] = {i*(1 + time) for i in 1:m};
  Integer n(start = 0, fixed = true);
  Real sums, squares, largest, times;
  Real scaled[m];
  Real moved[m];
  Real steps;
  Real nothing;
  Real empty[0];
  Real of_empty;
  Real matrix[3, 3];
  Boolean many;
  discrete Real since(start = -1, fixed = true);
algorithm
  when sample(0.1, 0.1) then
    n := pre(n) + 1;
  end when;
algorithm
  sums := sum(x[1:n]);
  squares := 0;
  for i in n:-1:1 loop
    squares := squares + x[i]^2;
  end for;
  largest := max(cat(1, {0.5}, x[1:n]));
  times := product(x[i] for i in 1:n);
  scaled[1:n] := 2*x[1:n];
  scaled[n + 1:end] := zeros(m - n);
  moved := cat(1, x[n + 1:end], x[1:n]);
  steps := 0;
  for u in 0:0.25:n loop
    steps := steps + 1;
  end for;
  nothing := 7;
  for i in n:-1 loop
    nothing := 8;
  end for;
  of_empty := sum(empty[1:0]) + sum(empty[i] for i in 1:n - n);
  matrix := identity(3);
  for i in 1:min(n, 3) loop
    for j in i:3 loop
      matrix[i, j] := i + 10*j;
    end for;
  end for;
  many := sum(x[1:n]) > 5.5 + time;
  when sum(x[1:n]) > 5.5 + time then
    since := time;
  end when;
  annotation(experiment(StopTime = 0.55));
end BoundsThatChange;
// at t=0.05: sums = 0 ± 0 (nothing is added)
// at t=0.35: sums = 8.1 ± 1e-9 (closed form: (1 + t)*6)
// at t=0.35: squares = 25.515 ± 1e-9 (closed form: (1 + t)^2*(1 + 4 + 9))
// at t=0.05: largest = 0.5 ± 0 (the one that is always there)
// at t=0.35: largest = 4.05 ± 1e-9 (closed form: 3*(1 + t))
// at t=0.05: times = 1 ± 0 (of nothing)
// at t=0.35: times = 14.76225 ± 1e-9 (closed form: 6*(1 + t)^3)
// at t=0.35: scaled[3] = 8.1 ± 1e-9 (closed form: 6*(1 + t))
// at t=0.35: scaled[4] = 0 ± 0 (behind n)
// at t=0.25: moved[1] = 3.75 ± 1e-9 (closed form: the third, 3*(1 + t))
// at t=0.25: moved[4] = 1.25 ± 1e-9 (closed form: the first, 1 + t)
// at t=0.05: moved[1] = 1.05 ± 1e-9 (closed form: the first, 1 + t)
// at t=0.35: steps = 13 ± 0 (0 to 3 by quarters)
// at t=0.35: nothing = 7 ± 0 (3:-1 is empty)
// at t=0.05: nothing = 7 ± 0 (0:-1 is empty)
// at t=0.35: of_empty = 0 ± 0 (of nothing)
// at t=0.25: matrix[2,3] = 32 ± 0 (2 + 10*3)
// at t=0.25: matrix[3,3] = 1 ± 0 (of the identity)
// at t=0.25: many = 0 ± 0 (3*(1 + t) is less than 5.5 + t)
// at t=0.35: many = 1 ± 0 (6*(1 + t) is more than 5.5 + t)
// at t=0.5: since = 0.3 ± 1e-9 (when the third is added)
