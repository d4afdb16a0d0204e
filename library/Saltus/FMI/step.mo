within Saltus.FMI;
impure function step "Co-simulation from the present communication point"
  input Unit unit;
  input Integer n "Number of steps so far";
  input Real t "Time";
  input Real h "Communication step";
  input Integer inputs[:] "Inputs, by their numbers in the model description";
  input Real u[:] "Their values, arrays row by row";
  output Integer n1 "Number of steps, with this one";
  output Real next "Time of the next communication point; the present one where an event was handled instead";
  output Boolean stop "The FMU wants the simulation to end";
external "C" saltus_fmu_step(unit, n, t, h, inputs, u, n1, next, stop);
end step;
