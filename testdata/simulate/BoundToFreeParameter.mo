// A parameter bound to a free one: the initial condition goes through the binding to the parameter that it determines.
model BoundToFreeParameter
  block Spring
    parameter Real c;
    input Real s;
    output Real f = c*(s - 0.1);
  end Spring;
  parameter Real c(start = 20, fixed = false) "found: 9.81/(0.3 - 0.1)";
  Spring spring(c = 2*c, s = s);
  Real s(start = 0.3, fixed = true);
  Real v(start = 0, fixed = true);
  Real a(start = 0, fixed = true);
  Real found = c;
equation
  der(s) = v;
  der(v) = a;
  a = 9.81 - spring.f;
  annotation (experiment(StopTime = 1));
end BoundToFreeParameter;
// at t=1: found = 24.525 ± 1e-9 (closed form: 2*c*0.2 = 9.81)
// at t=1: s = 0.3 ± 1e-9 (closed form: at rest)
