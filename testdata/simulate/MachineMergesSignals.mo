// Outputs of several states give one signal: that of the active one. States without derivatives are of continuous time as well.
model MachineMergesSignals
  connector In = input Real;
  connector Out = output Real;
  block S
    parameter Real k;
    Out y[2] = {k, 2*k};
  end S;
  block I
    In u[2];
    Real x[2](each start = 0, each fixed = true);
  equation
    der(x) = u;
  end I;
  block Level
    parameter Real k;
    Real y = k;
  end Level;
  S s[2](k = {1, 10});
  I i;
  Level low(k = 1), high(k = 5);
  Real level = if activeState(low) then low.y else high.y;
  Real area(start = 0, fixed = true);
equation
  initialState(s[1]);
  transition(s[1], s[2], time >= 0.5);
  connect(s[1].y, i.u);
  connect(s[2].y, i.u);
  initialState(low);
  transition(low, high, time >= 0.75);
  der(area) = level;
end MachineMergesSignals;
// at t=1: i.x[1] = 5.5 ± 1e-9 (closed form)
// at t=1: i.x[2] = 11 ± 1e-9 (closed form)
// at t=1: area = 2 ± 1e-9 (closed form)
