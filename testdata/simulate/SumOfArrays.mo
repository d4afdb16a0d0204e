// A sum whose terms are arrays has the type of a term (specification 10.3.4.1): {6, 60}, not 66 twice.
model SumOfArrays
  function f
    input Real a[:];
    output Real y[2];
  algorithm
    y := sum({a[i], 10*a[i]} for i in 1:size(a, 1));
  end f;
  Real a[3] = {1, 2, 3}*time;
  Real s[2] = sum({a[i], 10*a[i]} for i in 1:3);
  Real two[2] = sum({i*a[j], a[i]} for i in 1:3, j in 1:3);
  Real many[2] = sum({i, 1}*time for i in 1:200);
  Real none[2] = sum({a[i], 10*a[i]} for i in 1:0);
  Real m[2, 2] = sum({{a[i], 10*a[i]}, {1, 2}} for i in 1:3);
  Real called[2] = f(a);
  Real assigned[2];
algorithm
  assigned := sum({a[i], 10*a[i]} for i in 1:3);
end SumOfArrays;
// at t=1: s[1] = 6 ± 1e-12 (closed form: 1 + 2 + 3)
// at t=1: s[2] = 60 ± 1e-12 (closed form: 10*(1 + 2 + 3))
// at t=1: two[1] = 36 ± 1e-12 (closed form: (1 + 2 + 3)^2)
// at t=1: two[2] = 18 ± 1e-12 (closed form: 3*(1 + 2 + 3))
// at t=1: many[1] = 20100 ± 1e-9 (closed form: 200*201/2)
// at t=1: many[2] = 200 ± 1e-9 (closed form: 200 times 1)
// at t=1: none[2] = 0 ± 0 (closed form: the empty sum)
// at t=1: m[1,2] = 60 ± 1e-12 (closed form: 10*(1 + 2 + 3))
// at t=1: m[2,1] = 3 ± 1e-12 (closed form: 3 times 1)
// at t=1: called[2] = 60 ± 1e-12 (closed form: 10*(1 + 2 + 3))
// at t=1: assigned[2] = 60 ± 1e-12 (closed form: 10*(1 + 2 + 3))
