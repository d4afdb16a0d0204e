// A function with a loop, an array and two results; an algorithm that takes them apart.
model FunctionCalls
  function powers
    input Real x;
    output Real total;
    output Real last;
  protected
    Real p[3];
  algorithm
    p[1] := x;
    for i in 2:3 loop
      p[i] := x*p[i - 1];
    end for;
    total := sum(p);
    last := p[end];
  end powers;
  Real a, b, z(start = 0, fixed = true);
algorithm
  (a, b) := powers(time);
equation
  der(z) = a;
  annotation (experiment(StopTime = 2));
end FunctionCalls;
// at t=2: a = 14 ± 1e-9 (closed form: t + t^2 + t^3)
// at t=2: b = 8 ± 1e-9 (closed form: t^3)
// at t=2: z = 8.666666666666666 ± 1e-6 (closed form: t^2/2 + t^3/3 + t^4/4)
