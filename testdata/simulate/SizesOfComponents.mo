// `size` of arrays of components that are no values (specification 10.3.1), and ranges that follow from arrays of packages (11.2.2.1).
package SizesOfComponents
  package Tables
    constant Real a[3] = {1, 2, 3};
    constant Real b[:, 2] = [1, 2; 3, 4];
  end Tables;
  model Cell
    Real x = time;
    Real u[3] = {1, 2, 3};
  end Cell;
  model Test
    Cell cell[4];
    Cell plate[2, 5];
    Integer n = size(cell, 1);
    Integer m = size(plate, 2) + 10*ndims(plate);
    Real s = sum(cell[i].x for i in 1:size(cell, 1));
    Real t = sum(Tables.b[i, j] for i, j);
    Real x[3];
  equation
    for i loop
      x[i] = Tables.a[i]*time;
    end for;
  end Test;
end SizesOfComponents;
// class: SizesOfComponents.Test
// at t=1: n = 4 ± 1e-12 (closed form: declared)
// at t=1: m = 25 ± 1e-12 (closed form: 5 + 10*2)
// at t=1: s = 4 ± 1e-12 (closed form: 4*t)
// at t=1: t = 10 ± 1e-12 (closed form: 1 + 2 + 3 + 4)
// at t=1: x[3] = 3 ± 1e-12 (closed form: 3*t)
