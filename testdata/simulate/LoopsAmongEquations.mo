// A loop of an algorithm that is called takes part in equations that are solved together, and in those that are differentiated.
model LoopsAmongEquations
  Real root(start = 1), cube;
  Real x(start = 1, fixed = true), y, v;
  Real weighted;
  Integer n;
algorithm
  root := 1;
  while noEvent(abs(root^3 - cube) > 1e-12*abs(cube)) loop
    root := root - (root^3 - cube)/(3*root^2);
  end while;
algorithm
  weighted := 0;
  for i in 1:n loop
    weighted := weighted + i*x;
  end for;
equation
  cube = (2 + time)^3 + 2*(2 + time) - 2*root;
  n = if time < 2 then 3 else 4;
  der(x) = v;
  der(y) = v + 1;
  y = weighted;
end LoopsAmongEquations;
// at t=0: root = 2 ± 1e-6 (closed form: r^3 + 2*r = (2 + t)^3 + 2*(2 + t) for r = 2 + t)
// at t=1: root = 3 ± 1e-6 (closed form: 2 + t)
// at t=1: x = 1.2 ± 1e-6 (closed form: 6*der(x) = der(x) + 1)
// at t=1: y = 7.2 ± 1e-6 (closed form: 6*x)
