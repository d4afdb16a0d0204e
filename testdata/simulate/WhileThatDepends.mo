// Loops of algorithm sections whose number of rounds is known at run time only (specification 11.2.3).
model WhileThatDepends
  model Root
    parameter Real a;
    parameter Integer above(fixed = false);
    Real r;
  initial algorithm
    above := 0;
    while above*above < a loop
      above := above + 1;
    end while;
  algorithm
    r := 1;
    while noEvent(abs(r*r - a*(1 + time)) > 1e-13*a) loop
      r := (r + a*(1 + time)/r)/2;
    end while;
  end Root;
  Root two(a = 2);
  Root ten(a = 10);
  Real above[2] = {two.above, ten.above};
  Integer steps(start = 0, fixed = true);
  Integer collatz(start = 27);
  Real rounds[2];
  Real last;
algorithm
  when initial() then
    steps := 0;
    collatz := 27;
    while collatz <> 1 loop
      collatz := if mod(collatz, 2) == 0 then div(collatz, 2) else 3*collatz + 1;
      steps := steps + 1;
    end while;
  end when;
algorithm
  for i in 1:2 loop
    rounds[i] := 0;
    while true loop
      rounds[i] := rounds[i] + 1;
      if noEvent(rounds[i] > i*(1 + 4*time)) then
        break;
      end if;
    end while;
  end for;
  last := 5;
  while noEvent(last > 4 + time) loop
    last := last - 1;
    while noEvent(last < 4.5 and time > 0.5) loop
      last := last + 0.25;
    end while;
    if noEvent(last > 4.4) then
      break;
    end if;
  end while;
end WhileThatDepends;
// at t=1: two.r = 2 ± 1e-9 (closed form: sqrt(2*(1 + t)))
// at t=0.62: two.r = 1.8 ± 1e-9 (closed form: sqrt(2*(1 + t)))
// at t=1: ten.r = 4.47213595499958 ± 1e-9 (closed form: sqrt(20))
// at t=0: above[1] = 2 ± 0 (the smallest integer whose square is not below 2)
// at t=0: above[2] = 4 ± 0 (the smallest integer whose square is not below 10)
// at t=0: steps = 111 ± 0 (the Collatz sequence of 27 has 111 steps)
// at t=1: collatz = 1 ± 0 (its end)
// at t=0.3: rounds[1] = 3 ± 0 (the smallest integer above 2.2)
// at t=0.3: rounds[2] = 5 ± 0 (the smallest integer above 4.4)
// at t=1: rounds[2] = 11 ± 0 (the smallest integer above 10)
// at t=0.3: last = 4 ± 0 (one round, which ends at 4)
// at t=0.8: last = 4.5 ± 0 (down to 4, up to 4.5, then the loop is left)
