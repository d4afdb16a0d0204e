model SizeOfItself
  Real x[size(x, 2), size(x, 1)];
//     ^ error[E0235]: the size of `x` depends on itself
end SizeOfItself;
