// Functions without `derivative` annotation, with loops that depend on their inputs: their bodies are differentiated, twice.
model BodyDerivative
  function next "A step of Newton's method for the root of x, with the residual"
    input Real y;
    input Real x;
    output Real better;
    output Real residual;
  protected
    Real parts[2];
  algorithm
    parts := {y, x/y};
    better := sum(parts)/2;
    residual := abs(better^2 - x);
  end next;
  function root
    input Real x;
    output Real y = 1;
    output Integer n = 0;
  protected
    Real residual = 1;
  algorithm
    while residual > 1e-13*x or n < 8 loop
      (y, residual) := next(y, x);
      n := n + 1;
      if n > 50 then
        break;
      end if;
    end while;
  end root;
  function table "Between the points (k, k^2)"
    input Real points[:];
    input Real u;
    output Real y;
  protected
    Integer k = 1;
  algorithm
    while k < size(points, 1) - 1 and points[k + 1] <= u loop
      k := k + 1;
    end while;
    y := points[k]^2 + (u - points[k])*(points[k + 1]^2 - points[k]^2)/(points[k + 1] - points[k]);
  end table;
  Real x(start = 1, fixed = true);
  Real y = root(x);
  Real v = der(y);
  Real a = der(v);
  Real t = table({0, 1, 2, 3, 4}, x);
  Real slope = der(t);
equation
  der(x) = 1;
  annotation (experiment(StopTime = 2.5));
end BodyDerivative;
// at t=2.5: v = 0.267261241912 ± 1e-9 (closed form: 1/(2*sqrt(3.5)))
// at t=2.5: a = -0.0381801774161 ± 1e-9 (closed form: -1/(4*3.5^1.5))
// at t=2.5: slope = 7 ± 1e-9 (closed form: 16 - 9)
