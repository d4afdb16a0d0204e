// Equations that are linear in the unknowns once their denominators are multiplied out: the only solution is on the other side of the
// pole at r = 0. The parameter `kind` decides which terms there are before they are sorted, also where the unknowns are parameters.
model PoleInLoop
  parameter Integer kind = 1;
  parameter Real L(fixed = false, start = 0.1);
  parameter Real r(fixed = false, start = 0.001);
  parameter Real T1(fixed = false, start = 1);
  parameter Real T2(fixed = false, start = 1);
  Real x(start = 0, fixed = true);
initial equation
  T1 = (L + 0.5)/r;
  T2 = (L + 0.4)/r;
  2 = if kind == 1 then T1 else T1 + T2*L;
  3 = if kind == 1 then T2 else T1*T2;
equation
  der(x) = L + time*r;
  annotation (experiment(StopTime = 1));
end PoleInLoop;
// at t=1: r = -0.1 ± 1e-12 (by hand: 2*r = L + 0.5, 3*r = L + 0.4)
// at t=1: L = -0.7 ± 1e-12 (by hand)
// at t=1: x = -0.75 ± 1e-6 (closed form: L + r/2)
