// Three coupled relays: der(x) = c(t) - A*sign(x), reached one after the other. At rest on all thresholds the mean signs are
// u = A⁻¹c(t) (equivalent control, Utkin 1992). With A = [1 0.2 -0.1; 0.3 1 0.2; -0.2 0.1 1] and
// c = A*(0.3 sin t, 0.2, -0.1 cos t), u is the vector in parentheses, and q is its integral from the last arrival on.
model SlidesCoupled
  Real x[3](start = {0.5, 0.3, 0.7}, each fixed = true);
  Real u[3] = {if x[i] > 0 then 1 else -1 for i in 1:3};
  parameter Real A[3, 3] = [1, 0.2, -0.1; 0.3, 1, 0.2; -0.2, 0.1, 1];
equation
  der(x) = A*{0.3*sin(time), 0.2, -0.1*cos(time)} - A*u;
  annotation(experiment(StopTime = 8));
end SlidesCoupled;
// at t=5: x[1] = 0 ± 1e-9 (closed form)
// at t=8: x[1] = 0 ± 1e-9 (closed form)
// at t=8: x[2] = 0 ± 1e-9 (closed form)
// at t=8: x[3] = 0 ± 1e-9 (closed form)
// at t=8: u[1] = 0.29680747398701446 ± 1e-7 (closed form: 0.3 sin 8)
// at t=8: u[2] = 0.2 ± 1e-7 (closed form)
// at t=8: u[3] = 0.014550003380861353 ± 1e-7 (closed form: -0.1 cos 8)
