within Saltus.FMI;
connector IntegerInput = input Integer "Whole number that comes in";
