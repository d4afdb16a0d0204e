within Saltus.FMI;
connector IntegerOutput = output Integer "Whole number that goes out";
