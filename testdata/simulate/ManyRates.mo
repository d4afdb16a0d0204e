model ManyRates "Clocks derived from one another"
  Integer n(start = 0) "Ticks every 1/10 s";
  Integer slow(start = 0), fast(start = 0), late(start = -1), back(start = -2), latest(start = 0);
  Integer slowTicks(start = 0), fastTicks(start = 0), lateTicks(start = 0), backTicks(start = 0);
  Boolean first;
  Real h, hSlow, hFast;
equation
  n = previous(n) + sample(1, Clock(1, 10));
  first = firstTick(n);
  h = interval(n);
  slow = subSample(n, 3);
  slowTicks = previous(slowTicks) + (if slow > 0 then 1 else 0);
  hSlow = interval(slow);
  fast = superSample(n, 2);
  fastTicks = previous(fastTicks) + (if fast > 0 then 1 else 0);
  hFast = interval(fast);
  late = shiftSample(n, 3, 2);
  lateTicks = previous(lateTicks) + (if late > 0 then 1 else 0);
  back = backSample(late, 1, 2);
  backTicks = previous(backTicks) + (if back > -3 then 1 else 0);
  when superSample(Clock(1, 10), 1) then
    latest = noClock(slow);
  end when;
  annotation(experiment(StopTime = 0.62));
end ManyRates;
// Ticks (by the definitions of the operators): n at 0, 0.1, …, 0.6; slow at 0, 0.3, 0.6; fast at 0, 0.05, …, 0.6; late at
// 0.15, 0.25, …; back half an interval before late, at 0.1, 0.2, …, where it still has the value of late's tick before.
// at t=0.04: late = -1 ± 0 (start value before the first tick)
// at t=0.05: first = 1 ± 0 (the first tick of n is the last one)
// at t=0.12: back = -1 ± 0 (late has not ticked: its start value)
// at t=0.17: late = 2 ± 0 (n since 0.1)
// at t=0.22: back = 2 ± 0 (late since 0.15)
// at t=0.62: n = 7 ± 0 (ticks)
// at t=0.62: slow = 7 ± 0 (n at 0.6)
// at t=0.62: slowTicks = 3 ± 0 (ticks)
// at t=0.62: fastTicks = 13 ± 0 (ticks)
// at t=0.62: lateTicks = 5 ± 0 (ticks)
// at t=0.62: backTicks = 6 ± 0 (ticks)
// at t=0.57: latest = 4 ± 0 (slow since 0.3)
// at t=0.62: first = 0 ± 0 (definition)
// at t=0.62: h = 0.1 ± 1e-15 (interval)
// at t=0.62: hSlow = 0.3 ± 1e-15 (interval)
// at t=0.62: hFast = 0.05 ± 1e-15 (interval)
