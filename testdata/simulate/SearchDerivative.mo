model SearchDerivative "The derivative of a function that looks for its interval"
  function interpolate
    input Real x[:];
    input Real y[size(x, 1)];
    input Real u;
    output Real v;
  protected
    Integer i = 1;
  algorithm
    while i < size(x, 1) - 1 and u >= x[i + 1] loop
      i := i + 1;
    end while;
    v := y[i] + (y[i + 1] - y[i])*(u - x[i])/(x[i + 1] - x[i]);
  end interpolate;
  parameter Real x[4] = {0, 1, 2, 4};
  parameter Real y[4] = {0, 1, 4, 16};
  Real v = interpolate(x, y, 4*time);
  Real w = der(v);
  annotation(experiment(StopTime = 1));
end SearchDerivative;
// balance: 2 equations, 2 unknowns
// at t=0.125: v = 0.5 ± 1e-9 (closed form: first line, slope 1)
// at t=0.125: w = 4 ± 1e-9 (closed form: slope 1 times 4)
// at t=0.375: w = 12 ± 1e-9 (closed form: slope 3 times 4)
// at t=0.75: v = 10 ± 1e-9 (closed form: the middle of the last line)
// at t=0.75: w = 24 ± 1e-9 (closed form: slope 6 times 4)
