// A loop that is called assigns two elements of an array, of which another equation determines the rest.
model PartOfAnArray
  Real x[4](start = {1, 2, 3, 4});
  Real z[2](each start = 5);
  Integer n = 1 + integer(2*time);
algorithm
  for i in 1:n loop
    x[1] := x[1] + i;
    x[3] := x[3] + x[2];
    z[1] := z[1] + z[2];
  end for;
equation
  x[2] = time;
  z[2] = time;
  x[4] = x[1];
end PartOfAnArray;
// at t=0.7: x[1] = 4 ± 0 (the start value and 1 + 2)
// at t=0.7: x[3] = 7 ± 0 (the start value and twice that of x[2], which the algorithm begins with: specification 11.1.2)
// at t=0.7: z[1] = 15 ± 0 (three times the start value)
// at t=0.7: x[2] = 0.7 ± 1e-12 (closed form: t)
// at t=0.7: x[4] = 4 ± 0 (closed form: x[1])
