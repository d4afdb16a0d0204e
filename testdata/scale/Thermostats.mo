model Thermostats "Rooms that a common outside temperature cools and that are heated by thermostats with hysteresis"
  parameter Integer N = 100;
  Real T[N](start={18 + 4*mod(0.618034*i, 1) for i in 1:N}, each fixed=true, each nominal=20);
  Boolean on[N](each start=true, each fixed=true);
equation
  for i in 1:N loop
    der(T[i]) = 0.05*(5 - T[i]) + (if on[i] then 1.5 + 0.5*mod(0.414214*i, 1) else 0);
    on[i] = if pre(on[i]) then T[i] < 21 else T[i] < 19;
  end for;
  annotation(experiment(StopTime=100, Tolerance=1e-4));
end Thermostats;
