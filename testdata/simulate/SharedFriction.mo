// A body that two frictions hold together: while both do, the equations leave open how they share the load, and it moves
// only when neither can take more.
model SharedFriction
  parameter Real c[2] = {1, 2} "Largest forces";
  Real v(start = 0, fixed = true), a;
  Real s[2], f[2];
  Boolean starts[2], moves[2](each start = false, each fixed = true), isStuck[2];
equation
  der(v) = a;
  a = 4*time - f[1] - f[2];
  for i in 1:2 loop
    starts[i] = not pre(moves[i]) and s[i] > c[i];
    isStuck[i] = not (pre(moves[i]) or starts[i]);
    f[i] = if isStuck[i] then s[i] else c[i];
    a = if isStuck[i] then 0 else s[i] - c[i];
    moves[i] = (pre(moves[i]) or starts[i]) and v > 0;
  end for;
end SharedFriction;
// at t=0.7: v = 0 ± 1e-9 (the load is 2.8, the frictions can hold 3)
// at t=1: v = 0.125 ± 1e-3 (closed form: integral of 4 t - 3 from t = 0.75 on)
