// What happens at time 0: see docs/book/start-and-events.md.
model StartOfEvents
  discrete Integer ticks(start = 0, fixed = true) "Of a sample that begins at 0";
  discrete Integer later(start = 0, fixed = true) "Of a sample that begins at 0.5";
  discrete Integer reached(start = 0, fixed = true) "Times that time >= 0 became true";
  discrete Integer passed(start = 0, fixed = true) "Times that time > 0 became true";
  discrete Real begun(start = 1, fixed = true) "Set initially";
  discrete Integer kept(start = 7, fixed = true) "Set by nothing";
equation
  when sample(0, 1) then
    ticks = pre(ticks) + 1;
  end when;
  when sample(0.5, 1) then
    later = pre(later) + 1;
  end when;
  when time >= 0 then
    reached = pre(reached) + 1;
  end when;
  when time > 0 then
    passed = pre(passed) + 1;
  end when;
  when initial() then
    begun = pre(begun) + 4;
  end when;
  when time > 100 then
    kept = pre(kept) + 1;
  end when;
  annotation (experiment(StopTime = 2.25));
end StartOfEvents;
// at t=2.25: ticks = 3 ± 0 (at 0, 1 and 2)
// at t=2.25: later = 2 ± 0 (at 0.5 and 1.5)
// at t=2.25: reached = 0 ± 0 (it is true initially, so it does not become true)
// at t=2.25: passed = 1 ± 0 (it is false initially and true right after)
// at t=2.25: begun = 5 ± 0 (pre(begun) is its start value)
// at t=2.25: kept = 7 ± 0 (the start value)
