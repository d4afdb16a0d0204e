model Spikes "Leaky integrate-and-fire neurons, each with K synapses from others"
  parameter Integer N = 100;
  parameter Integer K = 10;
  parameter Real tau = 0.02;
  parameter Real taus = 0.005;
  parameter Real w = 0.05 "Synaptic weight";
  Real v[N](start={mod(0.618034*i, 1) for i in 1:N}, each fixed=true);
  Real s[N](each start=0, each fixed=true);
  Integer n[N](each start=0, each fixed=true) "Spikes so far";
  Integer heard[N](each start=0, each fixed=true) "Spikes of all sources";
equation
  for i in 1:N loop
    tau*der(v[i]) = -v[i] + 1.1 + 0.2*mod(0.414214*i, 1) + s[i];
    taus*der(s[i]) = -s[i];
    when v[i] > 1 then
      reinit(v[i], 0);
      n[i] = pre(n[i]) + 1;
    end when;
    heard[i] = sum(n[1 + mod(7919*i + 10007*k + 31*i*k, N)] for k in 1:K);
    when change(heard[i]) then
      reinit(s[i], pre(s[i]) - w*(heard[i] - pre(heard[i])));
    end when;
  end for;
  annotation(experiment(StopTime=0.2, Tolerance=1e-4));
end Spikes;
