within Saltus.FMI;
function integerNumber "Value of a variable that is a whole number"
  input Unit unit;
  input Integer n "Number of events so far";
  input Real t "Time";
  input Real x[:] "States";
  input Integer inputs[:] "Inputs, by their numbers in the model description";
  input Real u[:] "Their values, arrays row by row";
  input Integer variable "Its number in the model description";
  input Integer element "Of an array, row by row; 1 of a scalar";
  output Integer y;
external "C" y = saltus_fmu_integer(unit, n, t, x, inputs, u, variable, element);
end integerNumber;
