// Friction with a state of its own in which the mass does not move: where the force is larger than the friction, a stop goes straight into
// sliding back. 1 - 3.5t up to 2/7, then -2.5(t - 2/7).
model TurnsBack
  parameter Real m = 1, F = -3, fs = 1, fc = 0.5;
  Real v(start = 1, fixed = true), f;
  Integer mode(start = 1, fixed = true);
equation
  m*der(v) = F + f;
  if mode == 0 then v = 0; else f = -fc*mode; end if;
  when pre(mode) == 1 and v < 0 then
    mode = 0;
  elsewhen pre(mode) == 0 and f > fs then
    mode = -1;
  elsewhen pre(mode) == 0 and f < -fs then
    mode = 1;
  elsewhen pre(mode) == -1 and v > 0 then
    mode = 0;
  end when;
  annotation(experiment(StopTime = 1, Tolerance = 1e-9));
end TurnsBack;
// at t=0.2: v = 0.3 ± 1e-9 (closed form)
// at t=1: v = -1.7857142857142858 ± 1e-7 (closed form)
