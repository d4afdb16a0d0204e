// Several results of an impure function that is called under pure().
model PureResults
  impure function f
    input Real x;
    output Real y;
    output Real z;
  algorithm
    y := 2*x;
    z := 3*x;
  end f;
  Real y;
  Real z;
equation
  (y, z) = pure(f(time));
end PureResults;
// at t=1: y = 2 ± 1e-12 (closed form)
// at t=1: z = 3 ± 1e-12 (closed form)
