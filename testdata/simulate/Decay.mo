model Decay
  parameter Real k = 2;
  Real x(start = 3, fixed = true);
equation
  der(x) = -k*x;
end Decay;
// at t=1: x = 0.40600584970983794 ± 1e-5 (closed form: 3*exp(-2*t))
// balance: 1 equations, 1 unknowns
// flat:
// class Decay
//   parameter Real k = 2.0;
//   Real x(start = 3.0, fixed = true);
// equation
//   der(x) = -k * x;
// end Decay;
