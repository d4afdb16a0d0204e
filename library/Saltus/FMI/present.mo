within Saltus.FMI;
function present "Value of a variable that changes at events only"
  input Unit unit;
  input Integer n "Number of events so far";
  input Real t0 "Time at the start";
  input Integer variable "Its number in the model description";
  input Integer element "Of an array, row by row; 1 of a scalar";
  output Real y;
external "C" y = saltus_fmu_present(unit, n, t0, variable, element);
end present;
