// Equations that are linear in the unknowns once their denominators are multiplied out: the only solution is on the other side of the
// pole at r = 0, and outside of the bounds, which are no part of the equations. The parameter `kind` decides which terms there are before they are sorted, also where the unknowns are parameters.
model PoleInLoop
  parameter Integer kind = 1;
  parameter Real L(fixed = false, start = 0.1, min = 0.001);
  parameter Real r(fixed = false, start = 0.001, min = 1e-5);
  parameter Real T1(fixed = false, start = 1);
  parameter Real T2(fixed = false, start = 1);
  Real x(start = 0, fixed = true);
  Real shown[2];
initial equation
  T1 = (L + 0.5)/r;
  T2 = (L + 0.456)/r;
  36 = if kind == 1 then T1 else T1 + T2*L;
  40 = if kind == 1 then T2 else T1*T2;
equation
  der(x) = L + time*r;
  shown = {L, r};
  annotation (experiment(StopTime = 1));
end PoleInLoop;
// at t=1: shown[2] = -0.011 ± 1e-12 (by hand: 36*r = L + 0.5, 40*r = L + 0.456)
// at t=1: shown[1] = -0.8959999999999999 ± 1e-12 (by hand)
// at t=1: x = -0.9014999999999999 ± 1e-6 (closed form: L + r/2)
