// The range of a loop is evaluated once (specification 11.2.2), so what makes events in it makes them: the number of rounds changes exactly
// there. So does the bound of a section or of a reduction.
model LoopsWithEventfulRanges
  Real x[5] = {1, 2, 3, 4, 5};
  Real s, part, reduced, nested;
  Integer rounds;
  Integer crossed(start = 0, fixed = true);
algorithm
  s := 0;
  rounds := 0;
  for i in 1:integer(5*time) loop
    s := s + i;
    rounds := rounds + 1;
  end for;
algorithm
  part := sum(x[1:integer(4*time) + 1]);
  reduced := sum(i^2 for i in 1:(if time > 0.35 then 3 else 1));
algorithm
  nested := 0;
  for j in 1:2 loop
    for i in 1:integer(3*time + j - 0.1) loop
      nested := nested + 10*j;
    end for;
  end for;
algorithm
  when s > 5 then
    crossed := pre(crossed) + 1;
  end when;
  annotation(experiment(StopTime = 0.95));
end LoopsWithEventfulRanges;
// at t=0.199: s = 0 ± 0 (no round)
// at t=0.201: s = 1 ± 0 (one round)
// at t=0.3: s = 1 ± 0 (one round)
// at t=0.3: rounds = 1 ± 0 (5*t = 1.5)
// at t=0.5: s = 3 ± 0 (1 + 2)
// at t=0.9: s = 10 ± 0 (1 + 2 + 3 + 4)
// at t=0.9: rounds = 4 ± 0 (5*t = 4.5)
// at t=0.9: part = 10 ± 0 (1 + 2 + 3 + 4)
// at t=0.3: reduced = 1 ± 0 (one term)
// at t=0.9: reduced = 14 ± 0 (1 + 4 + 9)
// at t=0.02: nested = 20 ± 0 (no round, then one)
// at t=0.3: nested = 50 ± 0 (one round, then two)
// at t=0.5: nested = 80 ± 0 (two rounds, then three)
// at t=0.9: nested = 110 ± 0 (three rounds, then four)
// at t=0.9: crossed = 1 ± 0 (s passes 5 once)
