within Saltus.FMI;
function ticks "How often an output clock has ticked"
  input Unit unit;
  input Integer n "Number of events so far";
  input Real t0 "Time at the start";
  input Integer clock "Its number in the model description";
  output Integer y;
external "C" y = saltus_fmu_ticks(unit, n, t0, clock);
end ticks;
