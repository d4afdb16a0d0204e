// A block with friction 1 is pushed by 2*sin(t) from v = 1: v = 3 - 2*cos(t) - t, zero at 4.118753757. There it sticks until
// 2*sin(t) = 1 at 2π + π/6, and slides again: v = 2*(cos(π/6) - cos(t)) - (t - 2π - π/6).
model SticksAndSlips
  Real v(start = 1, fixed = true), f;
  Boolean sticks(start = false, fixed = true);
equation
  der(v) = 2*sin(time) + f;
  when v <= 0 then
    sticks = true;
  elsewhen pre(sticks) and f < -1 then
    sticks = false;
  end when;
  if sticks then
    v = 0;
  else
    f = -1;
  end if;
  annotation(experiment(StopTime = 8, Tolerance = 1e-9));
end SticksAndSlips;
// at t=3: v = 1.979984993200891 ± 1e-7 (closed form: 3 - 2*cos(3) - 3)
// at t=5: v = 0 ± 1e-12 (sticks)
// at t=5: f = 1.917848549326277 ± 1e-9 (closed form: -2*sin(5))
// at t=8: v = 0.8298349579639894 ± 1e-7 (closed form)
