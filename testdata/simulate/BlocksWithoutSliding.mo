// A coil behind a diode that has a resistance while it conducts and a leakage while it blocks. The source begins with its negative half wave: the
// diode blocks, and half a period later it conducts for a whole one, since the current of the coil returns to zero only then. Both branches of the diode
// meet at s = 0: there is nothing to slide along, though behind the threshold the current goes to its leakage from everywhere, within 50 ns.
model BlocksWithoutSliding
  parameter Real Ron = 1e-5, Goff = 1e-7;
  Real i(start = 0, fixed = true), v, s;
  Boolean off = s < 0;
equation
  v = s*(if off then 1 else Ron);
  i = s*(if off then Goff else 1);
  0.5*der(i) = -10*sin(2*3.141592653589793*time) - v;
  annotation(experiment(StopTime = 1.4));
end BlocksWithoutSliding;
// at t=0.25: i = -1e-6 ± 1e-7 (closed form: the leakage of 10 V)
// at t=0.75: i = 3.183098861837907 ± 1e-4 (closed form: 10/π; Ron takes 1e-6 of it)
// at t=1.0: i = 6.366197723675814 ± 1e-4 (closed form: 20/π)
