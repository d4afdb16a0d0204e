within Saltus.FMI;
class Unit "An instance of an FMU"
  extends ExternalObject;

  function constructor "Loads an FMU; its initialisation begins when it is used for the first time"
    input String file "Path or URI of the FMU";
    input String token "Instantiation token or GUID of the FMU that the wrapper was written for";
    input String name "Name of the instance in messages";
    input Integer kind "1 model exchange, 2 co-simulation, 3 scheduled execution";
    input Integer variables[:] "Parameters, by their numbers in the model description, structural ones first";
    input Real values[:] "Their values, arrays row by row";
    input Integer stringVariables[:] "Parameters that are texts";
    input String strings[size(stringVariables, 1)] "Their values";
    output Unit unit;
  external "C" unit = saltus_fmu_open(file, token, name, kind, variables, values, stringVariables, strings);
  end constructor;

  function destructor
    input Unit unit;
  external "C" saltus_fmu_close(unit);
  end destructor;
end Unit;
