model PartialApplicationDefaults "Inputs that neither the application nor the call gives a value have their defaults (specification 12.4.2.1)"
  partial function P
    input Real x;
    output Real y;
  end P;
  function q
    extends P;
    input Real a = 1;
    input Real b = 2*a;
    input Real c = 3;
  algorithm
    y := x + 10*a + 100*b + 1000*c;
  end q;
  function apply
    input P f;
    output Real y;
  algorithm
    y := f(0);
  end apply;
  function sum
    input P f;
    input Integer n;
    output Real y = 0;
  algorithm
    for i in 1:n loop
      y := y + f(i);
    end for;
  end sum;
  parameter Integer n(start = 2) = 2;
  Real c = apply(function q(c = 5)), b = apply(function q(b = 5)), a = apply(function q(a = 5)), ac = apply(function q(a = 5, c = 7));
  Real bt = apply(function q(b = 5, c = time)), none = apply(q), looped = sum(function q(c = time), n);
  annotation(experiment(StopTime = 1));
end PartialApplicationDefaults;
// at t=1: c = 5210 ± 1e-9 (10 + 200 + 5000)
// at t=1: b = 3510 ± 1e-9 (10 + 500 + 3000)
// at t=1: a = 4050 ± 1e-9 (50 + 1000 + 3000)
// at t=1: ac = 8050 ± 1e-9 (50 + 1000 + 7000)
// at t=1: bt = 1510 ± 1e-9 (10 + 500 + 1000)
// at t=1: none = 3210 ± 1e-9 (10 + 200 + 3000)
// at t=1: looped = 2423 ± 1e-9 (1 + 2 + 2*(10 + 200 + 1000))
