within Saltus.Examples.Parts;
model FiveClutches "Six shafts in a row, each driven on its own, coupled by five clutches"
  extends Icons.Example;
  constant Integer n = 5 "Clutches";
  parameter Units.Inertia J[n + 1] = {1, 0.5, 2, 0.8, 1.2, 0.6} "Moments of inertia of the shafts";
  parameter Units.Torque drive[n + 1] = {9, -4, 7, -5, 6, -3} "Amplitudes of their drives";
  parameter Units.AngularVelocity omega[n + 1] = {1.1, 1.9, 0.7, 2.3, 1.3, 2.9} "Their angular frequencies";
  parameter Units.Torque tauMax[n] = {4, 3.5, 3, 4.5, 2.5} "Torques of the clutches while they slide";
  Mechanics.Rotational.Inertia shaft[n + 1](J = J, each phi(start = 0, fixed = true), each w(start = 0, fixed = true));
  Mechanics.Rotational.Clutch clutch[n](tauMax = tauMax);
  Mechanics.Rotational.Torque motor[n + 1];
  Integer structure "Which of the 32 structures: one bit for each clutch that slides";
equation
  for i in 1:n + 1 loop
    motor[i].tau = drive[i]*sin(omega[i]*time);
    connect(motor[i].flange, shaft[i].a);
  end for;
  for i in 1:n loop
    clutch[i].u = 1;
    connect(shaft[i].b, clutch[i].a);
    connect(clutch[i].b, shaft[i + 1].a);
  end for;
  structure = sum(if clutch[k].mode == 0 then 0 else integer(2^(k - 1)) for k in 1:n);
  annotation (experiment(StopTime = 6, Tolerance = 1e-8), Documentation(info = "<html><p>Neighbours turn together until their clutch has to carry more than friction can; the number of degrees of freedom changes from one to six and back. A clutch that breaks
loose relieves its neighbours or overloads them at the same instant.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = clutch[1].w_rel), Curve(y = clutch[2].w_rel), Curve(y = clutch[3].w_rel), Curve(y = clutch[4].w_rel), Curve(y = clutch[5].w_rel), Curve(y = structure)})})}));
end FiveClutches;
