// A mass falls from (0.6, 0) until a rope of length 1 is taut at (0.6, -0.8), after sqrt(1.6/9.81). The rope takes the radial part
// of the speed, 0.8*sqrt(2*9.81*0.8); then it swings as a pendulum, of which the energy is constant: v²/2 + g*y = 0.36*9.81*0.8
// - 0.8*9.81 = -5.02272. It is a constraint between positions: 4 states become 2, chosen as the mass moves.
model RopeGetsTaut
  parameter Real l = 1;
  parameter Real g = 9.81;
  Real x(start = 0.6, fixed = true), y(start = 0, fixed = true);
  Real vx(start = 0, fixed = true), vy(start = 0, fixed = true), F;
  Real energy = (vx^2 + vy^2)/2 + g*y;
  Boolean taut(start = false, fixed = true);
equation
  der(x) = vx;
  der(y) = vy;
  der(vx) = -F*x/l;
  der(vy) = -F*y/l - g;
  when x^2 + y^2 > l^2 then
    taut = true;
  end when;
  if taut then
    x^2 + y^2 = l^2;
  else
    F = 0;
  end if;
  annotation(experiment(StopTime = 2, Tolerance = 1e-9));
end RopeGetsTaut;
// at t=0.4: energy = 0 ± 1e-9 (closed form)
// at t=0.5: energy = -5.02272 ± 1e-6 (closed form: 0.36*g*0.8 - g*0.8)
// at t=2: energy = -5.02272 ± 1e-6 (closed form)
