model LongChainsInALoop "A loop that two unknowns determine one after the other, and that rounding makes worthless if that is done"
  parameter Integer n = 60;
  Real c = 1 + time "A matrix that changes";
  Real x[n] "Contributions";
  Real s[n] "Sum from the first one";
  Real q[n] "Sum of sums from the last one";
  Real b[n] = {cos(i) + c*sum((n + 1 - max(i, j))*cos(j) for j in 1:n) for i in 1:n};
equation
  s[1] = x[1];
  q[n] = s[n];
  for i in 2:n loop
    s[i] = s[i - 1] + x[i];
    q[i - 1] = q[i] + s[i - 1];
  end for;
  for i in 1:n loop
    x[i] + c*q[i] = b[i];
  end for;
end LongChainsInALoop;
// x = cos(1), cos(2), …: q[i] is the sum over k >= i and j <= k of x[j], in which x[j] occurs n + 1 - max(i, j) times; b is made of that.
// at t=1: x[1] = 0.5403023058681398 ± 1e-7 (closed form: cos(1))
// at t=1: x[30] = 0.15425144988758405 ± 1e-7 (closed form: cos(30))
// at t=1: x[60] = -0.9524129804151563 ± 1e-7 (closed form: cos(60))
