// A clocked `when` may contain any equations, here two that are solved together, and `sample(hold(x))` is the value before the tick.
model ClockedWhenEquations
  Clock c = Clock(1, 10);
  Real x, y;
  Real n(start = 0);
  Real late;
equation
  when c then
    n = previous(n) + 1;
    x + y = 3*n;
    x - y = n;
    late = sample(hold(n));
  end when;
  annotation(experiment(StopTime = 0.5));
end ClockedWhenEquations;
// at t=0.35: n = 4 ± 0 (ticks at 0, 0.1, 0.2, 0.3)
// at t=0.35: x = 8 ± 1e-12 (closed form: 2 n)
// at t=0.35: y = 4 ± 1e-12 (closed form: n)
// at t=0.35: late = 3 ± 0 (closed form: n before the tick)
// at t=0.05: late = 0 ± 0 (closed form: before the first tick n has its start value)
