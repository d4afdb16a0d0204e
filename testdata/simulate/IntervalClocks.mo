model IntervalClocks "Clocks whose intervals are computed at each tick, and a real period"
  Integer counter(start = 2) "Interval to the next tick in 1/100 s";
  Integer n(start = 0), half(start = 0);
  Real next(start = 0.02), hNext;
  Integer m(start = 0), k(start = 0);
  Real h;
equation
  when Clock(counter, 100) then
    counter = previous(counter) + 1;
    n = previous(n) + 1;
    h = interval();
  end when;
  half = previous(half) + superSample(sign(n), 2);
  when Clock(next) then
    next = 2*previous(next);
    m = previous(m) + 1;
    hNext = interval();
  end when;
  when Clock(0.07) then
    k = previous(k) + 1;
  end when;
  annotation(experiment(StopTime = 0.29));
end IntervalClocks;
// counter is 3, 4, 5, … after the ticks at 0, 0.03, 0.07, 0.12, 0.18, 0.25; the super-sampled clock ticks halfway as well.
// next is 0.04, 0.08, 0.16, … after the ticks at 0, 0.04, 0.12, 0.28.
// at t=0: h = 0.02 ± 1e-15 (start value of the interval)
// at t=0.11: n = 3 ± 0 (ticks)
// at t=0.11: half = 6 ± 0 (ticks at 0, 0.015, 0.03, 0.05, 0.07, 0.095)
// at t=0.29: n = 6 ± 0 (ticks)
// at t=0.29: h = 0.07 ± 1e-15 (from 0.18 to 0.25)
// at t=0.29: m = 4 ± 0 (ticks)
// at t=0.29: hNext = 0.16 ± 1e-15 (from 0.12 to 0.28)
// at t=0.29: k = 5 ± 0 (ticks at 0, 0.07, …, 0.28)
