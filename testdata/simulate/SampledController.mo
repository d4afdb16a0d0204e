model SampledController "A plant and a clocked controller, joined by sample and hold"
  parameter Real k = 5;
  Real x(start = 1, fixed = true) "Plant";
  Real measured, u(start = 0) "Controller";
  Integer n(start = 0) "Ticks so far";
equation
  der(x) = hold(u);
  measured = sample(x, Clock(1, 10));
  u = -k*measured;
  n = previous(n) + (if measured > 0 then 1 else -1);
  annotation(experiment(StopTime = 0.45));
end SampledController;
// balance: 4 equations, 4 unknowns
// Between two ticks x changes by -k/10 times its value at the first of them: x(n/10) = 0.5^n.
// events: 0.1, 0.2, 0.3, 0.4 (ticks of the clock; that at 0 belongs to the start)
// at t=0.1: x = 0.5 ± 1e-12 (closed form)
// at t=0.45: x = 0.046875 ± 1e-12 (closed form: 0.5^4 * (1 - 5*0.05))
// at t=0.45: measured = 0.0625 ± 1e-12 (closed form: 0.5^4)
// at t=0.45: n = 5 ± 0 (ticks at 0, 0.1, …, 0.4)
