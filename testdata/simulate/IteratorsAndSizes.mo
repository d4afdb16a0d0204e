// The last iterator is the outermost loop, so ranges before it may depend on it (specification 10.4.1.2); sizes of an array may refer to
// others of its own, in any order.
model IteratorsAndSizes
  Real triangle = sum(j*time for j in 1:i, i in 1:4) "1 + (1 + 2) + (1 + 2 + 3) + (1 + 2 + 3 + 4)";
  Real nested[:, :] = {10*i + j*time for i in 1:3, j in 1:2};
  Real x[2, size(x, 3), 4] = fill(time, 2, 4, 4);
  Real y[size(y, 2), size(y, 3), 2] = fill(time, 2, 2, 2);
  Real n = size(x, 2) + 10*size(y, 1);
end IteratorsAndSizes;
// at t=1: triangle = 20 ± 1e-12 (closed form: 1 + 3 + 6 + 10)
// at t=1: nested[2,3] = 32 ± 1e-12 (closed form: i = 3, j = 2)
// at t=1: n = 24 ± 1e-12 (closed form: sizes 4 and 2)
