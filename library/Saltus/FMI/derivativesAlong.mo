within Saltus.FMI;
function derivativesAlong "Directional derivative of the derivatives of the states: by the FMU if it can, else by differences"
  input Unit unit;
  input Integer n "Number of events so far";
  input Real t "Time";
  input Real x[:] "States";
  input Integer inputs[:] "Inputs, by their numbers in the model description";
  input Real u[:] "Their values, arrays row by row";
  input Real t_der;
  input Real x_der[size(x, 1)];
  input Real u_der[size(u, 1)];
  output Real dx_der[size(x, 1)];
external "C" saltus_fmu_derivatives_along(unit, n, t, x, inputs, u, t_der, x_der, u_der, dx_der);
end derivativesAlong;
