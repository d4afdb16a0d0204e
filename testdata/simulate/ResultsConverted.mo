// Results of a call that take the types of their variables: an Integer becomes Real, fields go by their names.
model ResultsConverted
  record A
    Real x;
    Integer y;
  end A;
  record B
    Real y;
    Real x;
  end B;
  function found
    input Real u;
    output Real value;
    output Integer position;
    output A a;
  algorithm
    value := u;
    position := 3;
    a := A(u, 7);
  end found;
  function used
    input Real u;
    output Real y;
  protected
    Real value;
    Real position;
    B b;
  algorithm
    (value, position, b) := found(u);
    y := value + position/2 + 10*b.x + 100*b.y;
  end used;
  Real y = used(time);
  Real value, position;
  B b;
equation
  (value, position, b) = found(time);
  annotation (experiment(StopTime = 2));
end ResultsConverted;
// at t=2: y = 723.5 ± 1e-9 (closed form: t + 3/2 + 10*t + 700)
// at t=2: position = 3 ± 1e-12 (what the function gives)
// at t=2: b.x = 2 ± 1e-12 (closed form: t)
// at t=2: b.y = 7 ± 1e-12 (what the function gives)
