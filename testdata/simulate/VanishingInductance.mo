model VanishingInductance "A series inductance of zero leaves no state, and a loss that is switched off no equation for its voltage"
  parameter Real L = 0;
  parameter Real R = 2;
  parameter Real G = 0;
  parameter Boolean hasLeak = false;
  Real i, v, vL, iLoss, iLeak, total;
  Real none, held;
  Real iCore, vCore;
  Real cLine, vLine;
equation
  vL = L*der(i);
  v = R*i + vL;
  v = 4*time;
  iLoss = G*v*held;
  0 = if hasLeak then iLeak - v else iLeak;
  total = i + iLoss + iLeak;
  none = 0;
  held = none + 3;
  iCore = if hasLeak then 2*vCore else 0;
  vCore = 3*der(iCore) + time;
  cLine = 2*L;
  2*vLine + cLine*der(vLine) = time;
end VanishingInductance;
// at t=1: i = 2 ± 1e-12 (Ohm's law: 4*t/R, for L = 0)
// at t=1: vL = 0 ± 1e-12 (L = 0)
// at t=1: total = 2 ± 1e-12 (neither loss nor leak)
// at t=1: held = 3 ± 1e-12 (a constant)
// at t=1: vCore = 1 ± 1e-12 (no current through the core, so none that changes)
// at t=1: vLine = 0.5 ± 1e-12 (algebraic, for a variable that follows from L = 0 makes its derivative vanish)
