model Converters "Buck converters, each with a switch, a diode and a load of its own, switched with a shift of its phase"
  parameter Integer N = 100;
  parameter Real Vin = 24;
  parameter Real T = 1e-4 "Period";
  parameter Real L = 1e-4;
  parameter Real C = 1e-4;
  parameter Real R = 10;
  parameter Real Ron = 1e-3;
  parameter Real Roff = 1e5;
  Real i[N](each start=0, each fixed=true);
  Real v[N](each start=0, each fixed=true, each nominal=10);
  Real id[N], ud[N], s[N];
  Boolean on[N](each start=false, each fixed=true);
  Boolean d[N];
  discrete Real t0[N](start={k/N*T for k in 1:N}, each fixed=true);
  Real Rs[N];
equation
  for k in 1:N loop
    when time >= pre(t0[k]) then
      t0[k] = pre(t0[k]) + (if pre(on[k]) then 1 - 0.5 else 0.5)*T;
      on[k] = not pre(on[k]);
    end when;
    Rs[k] = if on[k] then Ron else Roff;
    // Node between switch, diode and inductor at the voltage -ud: (Vin + ud)/Rs + id = i
    ud[k] = s[k]*(if d[k] then Ron else 1);
    id[k] = s[k]*(if d[k] then 1 else 1/Roff);
    d[k] = s[k] > 0;
    (Vin + ud[k])/Rs[k] + id[k] = i[k];
    L*der(i[k]) = -ud[k] - v[k];
    C*der(v[k]) = i[k] - v[k]/R;
  end for;
  annotation(experiment(StopTime=0.01, Tolerance=1e-4));
end Converters;
