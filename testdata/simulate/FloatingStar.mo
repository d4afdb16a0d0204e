// Three coils end in a bridge of resistors that floats: their currents add up to zero by several current laws together, and no equation says so.
// The bridge is in balance, so that each coil sees half of a resistance of 10.
model FloatingStar
  parameter Real pi = 3.141592653589793;
  Real i[3](each start = 0), v[3], u[3], d[3], vp, vn, idc;
equation
  for k in 1:3 loop
    100*sin(314*time - 2*pi*(k - 1)/3) - v[k] = 0.01*der(i[k]);
    i[k] = u[k] - d[k];
    v[k] - vp = 10*u[k];
    vn - v[k] = 10*d[k];
  end for;
  sum(u) = idc;
  sum(d) = idc;
  vp - vn = 20*idc;
initial equation
  i[1] = 0;
  i[2] = 0;
  annotation(experiment(StopTime = 0.02, Tolerance = 1e-9));
end FloatingStar;
// at t=0.01: i[1] = 9.091086632617808 ± 1e-6 (closed form: coil and resistance of 5)
// at t=0.01: i[2] = 7.947333139344554 ± 1e-6 (closed form)
// at t=0.01: i[3] = -17.038419771962353 ± 1e-6 (closed form)
