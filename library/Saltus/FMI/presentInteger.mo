within Saltus.FMI;
function presentInteger "Value of a whole number that changes at events only"
  input Unit unit;
  input Integer n "Number of events so far";
  input Real t0 "Time at the start";
  input Integer variable "Its number in the model description";
  input Integer element "Of an array, row by row; 1 of a scalar";
  output Integer y;
external "C" y = saltus_fmu_present_integer(unit, n, t0, variable, element);
end presentInteger;
