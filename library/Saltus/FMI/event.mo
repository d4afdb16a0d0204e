within Saltus.FMI;
impure function event "Event of model exchange: all rounds that the FMU wants"
  input Unit unit;
  input Integer n "Number of events so far";
  input Real t "Time";
  input Real x[:] "States";
  input Integer inputs[:] "Inputs, by their numbers in the model description";
  input Real u[:] "Their values, arrays row by row";
  output Integer n1 "Number of events, with this one";
  output Real next "Time of the next event that the FMU knows of";
  output Boolean stop "The FMU wants the simulation to end";
  output Real x1[size(x, 1)] "States after it";
external "C" saltus_fmu_event(unit, n, t, x, inputs, u, n1, next, stop, x1);
end event;
