// A slice is an array, so its parts have equal sizes (specification 10.6.9); so have the elements that an index chooses from while the model is
// simulated.
model RaggedSlices
  record R
    Real x[:];
  end R;
  record P
    parameter Integer n = 1;
    Real x[n];
  end P;
  model Part
    parameter Integer n = 1;
    Real x[n] = fill(time, n);
  end Part;
  R c[2] = {R({1, time}), R({1, time, 3})};
  Part part[2](n = {2, 3});
  P p[2](n = {1, 2}), q[2](n = {2, 1});
  Integer n = if time < 0.5 then 1 else 2;
  Real a = sum(part.x);
//             ^^^^^^ error[E0373]: `part.x` is not an array, because its parts have different sizes: [2] and [3]
  Real b = sum(c.x);
//             ^^^ error[E0373]: `c.x` is not an array, because its parts have different sizes: [2] and [3]
  Real d = sum(c[n].x);
//             ^^^^^^ error[E0373]: an index of `c.x` must be known before the simulation, because the elements differ in size
  R e = c[n];
//      ^^^^ error[E0373]: an index of `c` must be known before the simulation, because the elements differ in size
equation
  p = q;
//^^^^^ error[E0331]: both sides of an equation must have equal sizes, but the left is RaggedSlices.P[2], the right RaggedSlices.P[2]
algorithm
  q := p;
//     ^ error[E0328]: the value assigned to `q` must be RaggedSlices.P[2], but it is RaggedSlices.P[2]
end RaggedSlices;
