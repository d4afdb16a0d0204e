// The table of reductions allows array-valued terms in `sum` only (specification 10.3.4.1).
model ReducedArrays
  Real a[3] = {1, 2, 3}*time;
  Real p = product({a[i], 10*a[i]} for i in 1:3);
//                 ^^^^^^^^^^^^^^^ error[E0353]: `product` reduces scalar Real or Integer values, but its body is Real[2]
  Real q = max({a[i], 10*a[i]} for i in 1:3);
//             ^^^^^^^^^^^^^^^ error[E0353]: `max` reduces scalar Real, Integer, Boolean or enumeration values, but its body is Real[2]
end ReducedArrays;
