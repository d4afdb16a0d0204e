// The state is x*y; its initial value follows from the start value of x, which need not be fixed.
model StartOfProduct
  Real x(start = 2);
  Real y = 3 + time;
equation
  der(x*y) = 1;
end StartOfProduct;
// at t=0: x = 2 ± 1e-12 (closed form: the start value)
// at t=1: x = 1.75 ± 1e-5 (closed form: (6 + t)/(3 + t))
