within Saltus.FMI;
impure function activate "Scheduled execution: the partitions of all clocks that tick now"
  input Unit unit;
  input Integer n "Number of activations so far";
  input Real t "Time";
  input Real x[:] "States, which there are not";
  input Integer inputs[:] "Inputs and triggered clocks, by their numbers in the model description";
  input Real u[:] "Their values, arrays row by row; a clock ticks where it is not 0";
  output Integer n1 "Number of activations, with this one";
  output Real next "Next tick of a time-based clock";
  output Boolean stop "The FMU wants the simulation to end";
external "C" saltus_fmu_activate(unit, n, t, x, inputs, u, n1, next, stop);
end activate;
