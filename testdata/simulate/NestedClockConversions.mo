model NestedClockConversions "Conversions of what other clock operators give"
  Integer n(start = 0), a;
  Real b, c;
equation
  when Clock(1, 10) then
    n = previous(n) + 1;
  end when;
  a = subSample(superSample(n, 2), 3);
  b = subSample(sample(time, Clock(1, 10)), 3);
  c = 10*subSample(interval(n), 2);
  annotation(experiment(StopTime = 0.34));
end NestedClockConversions;
// n is 1 at 0, 2 at 0.1, …; a ticks at 0, 0.15, 0.3, b at 0, 0.3, c at 0, 0.2.
// at t=0.14: a = 1 ± 0 (of the tick at 0)
// at t=0.2: a = 2 ± 0 (of the tick at 0.15, between those of n at 0.1 and 0.2)
// at t=0.34: a = 4 ± 0 (of the tick at 0.3)
// at t=0.29: b = 0 ± 1e-15 (of the tick at 0)
// at t=0.34: b = 0.3 ± 1e-15 (of the tick at 0.3)
// at t=0.34: c = 1 ± 1e-14 (ten intervals of 0.1)
