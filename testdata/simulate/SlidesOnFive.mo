// Five coupled relays that are reached at the same time by two and two, and one more. On all of them u = A⁻¹c with
// A = 1 + 0.1 J (J: all ones, A⁻¹ = 1 - J/15): u[i] = c[i] - sum(c)/15, with c = (0.1, -0.2, 0.3, 0.4, -0.3).
model SlidesOnFive
  Real x[5](start = {0.5, 0.5, -0.3, -0.3, 0.8}, each fixed = true);
  Real u[5] = {if x[i] > 0 then 1 else -1 for i in 1:5};
  parameter Real c[5] = {0.1, -0.2, 0.3, 0.4, -0.3};
equation
  for i in 1:5 loop
    der(x[i]) = c[i] - u[i] - 0.1*sum(u);
  end for;
  annotation(experiment(StopTime = 6));
end SlidesOnFive;
// at t=6: x[1] = 0 ± 1e-9 (closed form)
// at t=6: x[4] = 0 ± 1e-9 (closed form)
// at t=6: u[1] = 0.08 ± 1e-8 (closed form)
// at t=6: u[2] = -0.22 ± 1e-8 (closed form)
// at t=6: u[3] = 0.28 ± 1e-8 (closed form)
// at t=6: u[4] = 0.38 ± 1e-8 (closed form)
// at t=6: u[5] = -0.32 ± 1e-8 (closed form)
