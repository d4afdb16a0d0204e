// String variables change at events; comparisons follow them (specification 3.5, 4.9.4). A text is compared by its characters.
model ChangingStrings
  record Named
    String name;
    Real x;
  end Named;
  function longest
    input Named r[:];
    output Real y = 0;
  algorithm
    for i in 1:size(r, 1) loop
      if r[i].name == "two" or r[i].name == "1" then
        y := y + i*r[i].x;
      end if;
    end for;
  end longest;
  function isStop
    input String s;
    output Boolean b = s == "stop";
  end isStop;
  parameter String wanted = "run";
  String state(start = "idle", fixed = true);
  String last(start = "none", fixed = true);
  String other = if time < 0.3 then "two" else state;
  Integer n = if time < 0.5 then 1 else 12;
  Boolean isIdle = state == "idle";
  Boolean isWanted = state == wanted;
  Boolean isAfter = state > "idle" and state <= "stop";
  Boolean isUnknown = state == "nowhere";
  Boolean counted = String(n) == "12";
  String label = (if time > 0.6 then wanted else "still") + String(n);
  String longer;
  Boolean isLabelled = longer == "run12!";
  Boolean stopped = isStop(state);
  Boolean back = last == "run";
  Real y;
  Real z = longest({Named(String(n), time), Named(other, 10), Named("two", 100)});
  Integer changes(start = 0, fixed = true);
equation
  longer = label + "!";
  when time >= 0.25 then
    state = "run";
  elsewhen time >= 0.75 then
    state = "stop";
  end when;
  when state == "stop" then
    last = pre(state);
  end when;
  when change(state) then
    changes = pre(changes) + 1;
  end when;
algorithm
  if state == "run" then
    y := time;
  elseif state == "stop" then
    y := -1;
  else
    y := 0;
  end if;
end ChangingStrings;
// at t=0.1: isIdle = 1 ± 0 (start value)
// at t=0.1: isAfter = 0 ± 0 (equal)
// at t=0.1: y = 0 ± 0 (idle)
// at t=0.1: back = 0 ± 0 (last is "none")
// at t=0.1: z = 320.1 ± 1e-12 (closed form: t + 2*10 + 3*100)
// at t=0.4: isIdle = 0 ± 0 (run)
// at t=0.4: isWanted = 1 ± 0 (run)
// at t=0.4: isAfter = 1 ± 0 ("idle" < "run" <= "stop")
// at t=0.4: y = 0.4 ± 1e-12 (closed form: t)
// at t=0.4: z = 300.4 ± 1e-12 (closed form: t + 3*100)
// at t=0.4: counted = 0 ± 0 (n = 1)
// at t=0.4: stopped = 0 ± 0 (run)
// at t=1: counted = 1 ± 0 (n = 12)
// at t=0.55: isLabelled = 0 ± 0 (still12!)
// at t=0.65: isLabelled = 1 ± 0 (run12!)
// at t=1: isWanted = 0 ± 0 (stop)
// at t=1: isUnknown = 0 ± 0 (never)
// at t=1: stopped = 1 ± 0 (stop)
// at t=1: back = 1 ± 0 (before "stop" there was "run")
// at t=1: y = -1 ± 0 (stop)
// at t=1: z = 300 ± 1e-12 (n = 12, state is "stop")
// at t=1: changes = 2 ± 0 (run, stop)
