// A base class and the class derived from it state the same initial equation. It counts once, and x begins with its start value.
model RepeatedCondition
  partial model Regulator
    parameter Real reference(fixed = false);
    Real measured;
  initial equation
    reference = measured;
  end Regulator;
  extends Regulator;
  Real x(start = 2);
initial equation
  measured = reference;
equation
  measured = x^2 + 1;
  der(x) = reference - x;
  annotation (experiment(StopTime = 1));
end RepeatedCondition;
// at t=1: der(x) = 1.103638323514327 ± 1e-5 (closed form: 3*exp(-t), reference = 2^2 + 1)
// at t=1: x = 3.896361676485673 ± 1e-5 (closed form: 5 - 3*exp(-t))
