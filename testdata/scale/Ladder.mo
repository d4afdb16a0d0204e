model Ladder "Diodes to ground along a line of resistors and capacitors, behind a source of 50 Hz"
  parameter Integer n = 10000;
  parameter Real k = 1e3, isat = 1e-3, vt = 0.025;
  Real v[n](each start=0, each fixed=true);
  Real s = sin(2*3.14159265358979323846*50*time);
equation
  der(v[1]) = k*(s - 2*v[1] + v[2]) - isat*(exp(v[1]/vt) - 1);
  for i in 2:n-1 loop
    der(v[i]) = k*(v[i-1] - 2*v[i] + v[i+1]) - isat*(exp(v[i]/vt) - 1);
  end for;
  der(v[n]) = k*(v[n-1] - v[n]) - isat*(exp(v[n]/vt) - 1);
  annotation (experiment(StopTime=0.02));
end Ladder;
