model StartsOfCells "Each element of a component array takes its part of an array that is written once"
  model Cell
    parameter Real k = 1;
    Real v(fixed = true);
    Real w[2](each fixed = true);
  equation
    der(v) = -k*v;
    der(w) = -k*w;
  end Cell;
  parameter Integer n = 3;
  parameter Real p[n, n] = {{i*10 + j for j in 1:n} for i in 1:n};
  Cell c[n, n](
    k = 2*p/22,
    v(start = {{i - 2*j for j in 1:n} for i in 1:n}),
    w(start = {{{i, j} for j in 1:n} for i in 1:n}));
end StartsOfCells;
// at t=0: c[1,1].v = -1 ± 1e-12 (declaration: i - 2j)
// at t=0: c[3,2].v = -1 ± 1e-12 (declaration: i - 2j)
// at t=0: c[2,3].v = -4 ± 1e-12 (declaration: i - 2j)
// at t=0: c[2,3].w[1] = 2 ± 1e-12 (declaration: i)
// at t=0: c[2,3].w[2] = 3 ± 1e-12 (declaration: j)
// at t=1: c[1,1].v = -0.36787944117144233 ± 1e-5 (closed form: -exp(-2·11/22))
// at t=1: c[2,2].w[2] = 0.27067056647322535 ± 1e-5 (closed form: 2·exp(-2·22/22))
