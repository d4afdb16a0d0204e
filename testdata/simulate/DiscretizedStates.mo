model DiscretizedStates "Differential equations in clocked partitions, with each solver method"
  Real u[5], x[5](each start = 1) "Start values are taken at the first tick";
  Real ramp, driven(start = 0);
  Real one, steady(start = 5);
  Real wanted, f(start = 0, fixed = true), c, force "Inverse model: the index must be reduced in the partition";
equation
  u[1] = sample(0.0, Clock(Clock(1, 10), "ExplicitEuler"));
  u[2] = sample(0.0, Clock(Clock(1, 10), "ImplicitEuler"));
  u[3] = sample(0.0, Clock(Clock(1, 10), "ImplicitTrapezoid"));
  u[4] = sample(0.0, Clock(Clock(1, 10), "ExplicitMidPoint2"));
  u[5] = sample(0.0, Clock(Clock(1, 10), "ExplicitRungeKutta4"));
  for i in 1:5 loop
    der(x[i]) = u[i] - 2*x[i];
  end for;
  ramp = sample(time, Clock(Clock(1, 10), "ExplicitMidPoint2"));
  der(driven) = ramp;
  one = sample(1.0, Clock(Clock(1, 10), "ImplicitEuler"));
  der(steady) = one - steady;
  wanted = sample(1.0, Clock(Clock(0.1), "ImplicitEuler"));
  der(f) = 2*(wanted - f);
  c = f;
  der(c) = force - c;
initial equation
  der(steady) = 0;
  annotation(experiment(StopTime = 0.35));
end DiscretizedStates;
// Three steps of h = 0.1 from the first tick; one step multiplies x by R(-2*h), R being the stability function of the method.
// at t=0.35: x[1] = 0.5120000000000001 ± 1e-12 (ExplicitEuler: 0.8^3)
// at t=0.35: x[2] = 0.5787037037037038 ± 1e-12 (ImplicitEuler: 1.2^-3)
// at t=0.35: x[3] = 0.5477084898572501 ± 1e-12 (ImplicitTrapezoid: (0.9/1.1)^3)
// at t=0.35: x[4] = 0.5513679999999999 ± 1e-12 (ExplicitMidPoint2: 0.82^3)
// at t=0.35: x[5] = 0.5488168249010372 ± 1e-12 (ExplicitRungeKutta4: (1 - 0.2 + 0.2^2/2 - 0.2^3/6 + 0.2^4/24)^3)
// at t=0.05: x[1] = 1 ± 0 (start value at the first tick)
// at t=0.35: driven = 0.045 ± 1e-12 (midpoint rule with the mean of the input at both ticks: 0.3^2/2)
// at t=0.35: steady = 1 ± 1e-12 (initial equation at the first tick)
// at t=0.35: f = 0.42129629629629617 ± 1e-12 (1 - 1.2^-3)
// at t=0.35: force = 1.5787037037037037 ± 1e-12 (der(f) + f = 2 - f)
