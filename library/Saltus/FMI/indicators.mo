within Saltus.FMI;
function indicators "Event indicators: an event is where one of them passes from positive to not positive or back"
  input Unit unit;
  input Integer n "Number of events so far";
  input Real t "Time";
  input Real x[:] "States";
  input Integer inputs[:] "Inputs, by their numbers in the model description";
  input Real u[:] "Their values, arrays row by row";
  input Integer nz "How many there are";
  output Real z[nz];
external "C" saltus_fmu_indicators(unit, n, t, x, inputs, u, z);
end indicators;
