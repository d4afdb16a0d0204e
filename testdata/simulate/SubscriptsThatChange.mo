// Vectors of subscripts that change during the simulation (specification 10.5).
model SubscriptsThatChange
  Real x[4] = {1, 2, 3, 4}*(1 + time);
  Real a[2, 4] = [x[1], x[2], x[3], x[4]; 10, 20, 30, 40];
  Integer k = 1 + integer(2*time);
  Real pair[2] = x[{k, 4}];
  Real next[2] = x[k:k + 1];
  Real square[2, 2] = a[{2, 1}, {k, k + 1}];
  Real column[2] = a[:, k];
  Real written[4];
  Real both[2, 4];
algorithm
  written := zeros(4);
  written[{k, 4}] := {7, 8};
  written[k + 1:k + 2] := x[k:k + 1];
  both := zeros(2, 4);
  both[:, {k + 1, k}] := [1, 2; 3, 4];
  annotation(experiment(StopTime = 0.9));
end SubscriptsThatChange;
// at t=0.2: pair[1] = 1.2 ± 1e-12 (closed form: 1 + t)
// at t=0.7: pair[1] = 3.4 ± 1e-12 (closed form: 2*(1 + t))
// at t=0.7: pair[2] = 6.8 ± 1e-12 (closed form: 4*(1 + t))
// at t=0.7: next[2] = 5.1 ± 1e-12 (closed form: 3*(1 + t))
// at t=0.7: square[1,2] = 30 ± 0 (second row, third column)
// at t=0.7: square[2,1] = 3.4 ± 1e-12 (first row, second column: 2*(1 + t))
// at t=0.7: column[1] = 3.4 ± 1e-12 (first row, second column: 2*(1 + t))
// at t=0.7: written[2] = 7 ± 0 (written[k])
// at t=0.7: written[3] = 3.4 ± 1e-12 (closed form: 2*(1 + t))
// at t=0.7: written[4] = 5.1 ± 1e-12 (closed form: 3*(1 + t), written after 8)
// at t=0.7: both[1,3] = 1 ± 0 (first of {k + 1, k})
// at t=0.7: both[2,2] = 4 ± 0 (second of {k + 1, k})
// at t=0.7: both[2,1] = 0 ± 0 (not written)
