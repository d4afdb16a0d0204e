model NestedMachines "A state with two parallel machines inside, that is left when both have ended"
  inner Integer water(start = 0) "Set by states inside run";
  Integer n(start = 0);
  Still idle, fault;
  Run run;
equation
  n = previous(n) + sample(1, Clock(1));
  initialState(idle);
  transition(idle, fault, ticksInState() >= 3, immediate = false, priority = 2);
  transition(idle, run, ticksInState() >= 3 and n > 0, immediate = false);
  transition(run, idle, true, immediate = false, synchronize = true);
public
  block Still
  end Still;
  block Fill
    outer output Integer water;
  equation
    water = previous(water) + 4;
  end Fill;
  block Drain
    outer output Integer water;
  equation
    water = previous(water) - 3;
  end Drain;
  block Blink
    Integer k(start = 0);
  equation
    k = previous(k) + 1;
  end Blink;
  block Run
    inner outer output Integer water;
    Integer total(start = 0);
    Fill fill;
    Drain drain;
    Still dry, dark;
    Blink blink;
  equation
    total = previous(total) + 1;
    initialState(fill);
    transition(fill, drain, previous(water) >= 8);
    transition(drain, dry, water < 3, immediate = false);
    initialState(blink);
    transition(blink, dark, timeInState() >= 2, immediate = false);
  end Run;
  annotation(experiment(StopTime = 17.5));
end NestedMachines;
// Ticks by hand: idle at 0, 1, 2 (the third tick lets it go). run from 3: fill at 3, 4 (water 4, 8), drain at 5, 6 (5, 2), dry
// from 7; blink at 3, 4, 5 (2 s), dark from 6. At 7 both machines have ended, so idle at 8, 9, 10, and run with a reset at
// 11: fill at 11, 12 (6, 10), drain at 13, 14, 15 (7, 4, 1), dry at 16, idle at 17.
// at t=2.5: active(idle) = 1 ± 0 (by hand)
// at t=2.5: run.total = 0 ± 0 (start value)
// at t=3.5: active(run) = 1 ± 0 (by hand)
// at t=3.5: active(run.fill) = 1 ± 0 (by hand)
// at t=4.5: water = 8 ± 0 (by hand)
// at t=4.5: run.blink.k = 2 ± 0 (by hand)
// at t=5.5: active(run.drain) = 1 ± 0 (immediate: at the tick at which its condition holds)
// at t=5.5: water = 5 ± 0 (by hand)
// at t=6.5: active(run.dark) = 1 ± 0 (by hand)
// at t=7.5: active(run.dry) = 1 ± 0 (delayed: one tick after its condition holds)
// at t=9.5: active(idle) = 1 ± 0 (by hand)
// at t=9.5: active(fault) = 0 ± 0 (the transition with the smaller priority number fires)
// at t=9.5: run.total = 5 ± 0 (keeps its value)
// at t=9.5: run.blink.k = 3 ± 0 (keeps its value)
// at t=9.5: water = 2 ± 0 (no active state assigns it)
// at t=12.5: water = 10 ± 0 (not reset: it is declared outside)
// at t=12.5: run.water = 10 ± 0 (the same variable)
// at t=12.5: run.total = 2 ± 0 (reset)
// at t=12.5: run.blink.k = 2 ± 0 (reset with the state around it)
// at t=16.5: water = 1 ± 0 (by hand)
// at t=17.5: active(idle) = 1 ± 0 (by hand)
