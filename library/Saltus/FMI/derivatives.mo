within Saltus.FMI;
function derivatives "Derivatives of the states"
  input Unit unit;
  input Integer n "Number of events so far";
  input Real t "Time";
  input Real x[:] "States";
  input Integer inputs[:] "Inputs, by their numbers in the model description";
  input Real u[:] "Their values, arrays row by row";
  output Real dx[size(x, 1)];
external "C" saltus_fmu_derivatives(unit, n, t, x, inputs, u, dx);
  annotation (derivative = derivativesAlong);
end derivatives;
