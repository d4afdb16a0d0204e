model Heat "A square that is kept at 0, from a sum of three modes"
  parameter Integer n = 200;
  parameter Real h = 1/(n + 1);
  final constant Real pi = 3.14159265358979323846;
  Real u[n, n](
    start={{sin(pi*i*h)*sin(pi*j*h) + 0.5*sin(2*pi*i*h)*sin(3*pi*j*h) + 0.25*sin(5*pi*i*h)*sin(4*pi*j*h) for j in 1:n} for i in 1:n},
    each fixed=true);
equation
  for i in 1:n loop
    for j in 1:n loop
      der(u[i, j]) = ((if i > 1 then u[i-1, j] else 0) + (if i < n then u[i+1, j] else 0) + (if j > 1 then u[i, j-1] else 0)
          + (if j < n then u[i, j+1] else 0) - 4*u[i, j])/h^2;
    end for;
  end for;
  annotation (experiment(StopTime=0.1));
end Heat;
