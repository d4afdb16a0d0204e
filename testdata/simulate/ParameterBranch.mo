// A loop whose only coefficient to divide by is zero for other values of a parameter: all its variables are iterated over.
model ParameterBranch
  function axis
    input Integer n;
    output Real e[3] = if n == 1 then {1, 0, 0} else if n == 2 then {0, 1, 0} else {0, 0, 1};
  algorithm
  end axis;
  parameter Integer k = 2;
  Real x(start = 2.1);
  Real y(start = 1.05);
equation
  axis(k)*{y, x, y} + y^3 = 3;
  x*y = 2;
  annotation (experiment(StopTime = 1));
end ParameterBranch;
// at t=1: x = 2 ± 1e-9 (by hand: 2 + 1 = 3, 2*1 = 2)
// at t=1: y = 1 ± 1e-9 (by hand)
