model ClocksAsWritten "An equation belongs to the clocks of all variables in it, also of those that do not matter"
  Integer n(start = 0), m(start = 0);
equation
  n = previous(n) + sample(1, Clock(1, 10));
  m = previous(m) + 1 + n*0;
  annotation(experiment(StopTime = 0.45));
end ClocksAsWritten;
// at t=0.45: n = 5 ± 0 (ticks at 0, 0.1, …, 0.4)
// at t=0.45: m = 5 ± 0 (the same clock, specification 16.7.3)
