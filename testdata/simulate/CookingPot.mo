// Two models of a pot, one that boils (2000 W) and one that keeps warm (200 W), between 353.15 and 363.15 K: C = 8400 J/K, G = 8 W/K,
// 293.15 K outside. Closed form: boiling for 1050 log(2000/1440) = 344.929270 s, then keeping for 1050 log(45/35) = 263.880150 s, then
// boiling for 1050 log(190/180) = 56.770582 s. `n` counts the entries of the second.
model CookingPot
  model Pot
    parameter Real P = 2000;
    Real T(start = 293.15, fixed = true);
  equation
    8400*der(T) = P - 8*(T - 293.15);
  end Pot;
  Pot boil, keep(P = 200);
  Real T = if activeState(boil) then boil.T else keep.T;
  Integer n(start = 0, fixed = true);
equation
  initialState(boil);
  transition(boil, keep, boil.T >= 363.15);
  transition(keep, boil, keep.T <= 353.15);
  when activeState(keep) then
    reinit(keep.T, pre(boil.T));
    n = pre(n) + 1;
  end when;
  when activeState(boil) then
    reinit(boil.T, pre(keep.T));
  end when;
  annotation(experiment(StopTime = 700, Tolerance = 1e-10));
end CookingPot;
// at t=344.929: T = 363.1499536593132 ± 1e-6 (closed form)
// at t=608.809: T = 353.15001400052245 ± 1e-6 (closed form)
// at t=665.58: T = 363.14999959724935 ± 1e-6 (closed form)
// at t=608: n = 1 ± 0 (entries)
// at t=700: n = 2 ± 0 (entries)
