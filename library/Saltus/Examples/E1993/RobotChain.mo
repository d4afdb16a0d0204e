within Saltus.Examples.E1993;
model RobotChain "Six links in a plane with dry friction in each joint"
  extends Icons.Example;
  constant Integer n = 6 "Joints";
  parameter Units.Length l[n] = {0.6, 0.5, 0.4, 0.3, 0.2, 0.1} "Lengths of the links";
  parameter Units.Mass m[n] = {3.0, 2.5, 2.0, 1.5, 1.0, 0.5} "Masses at their ends";
  parameter Units.Torque R0[n] = {3.0, 2.4, 1.5, 0.8, 0.3, 0.08} "Torques to break the joints loose";
  parameter Units.Torque Rm[n] = {2.4, 2.0, 1.2, 0.6, 0.2, 0.06} "Friction while they turn";
  parameter Units.Torque drive[n] = {8.0, 5.0, 3.0, 1.6, 0.6, 0.15} "Amplitudes of the drives";
  parameter Units.AngularVelocity omega[n] = {1.0, 1.3, 1.7, 2.1, 2.6, 3.1} "Their angular frequencies";
  Mechanics.Rotational.JointFriction joint[n](tau0 = Rm, peak = {R0[k]/Rm[k] for k in 1:n}, each w(start = 0, fixed = true));
  Units.Angle q[n](each start = 0, each fixed = true) "Angles of the joints";
  Units.Angle theta[n] "Angles of the links";
  Units.AngularVelocity w[n] "Angular velocities of the links";
  Units.AngularAcceleration dw[n] "Their derivatives";
  Units.Torque tau[n] "Torques of the joints, friction included";
  Integer structure "Which of the 64 structures: one bit for each joint that turns";
protected
  parameter Units.Mass beyond[n, n] = {{sum(m[max(i, j):n]) for j in 1:n} for i in 1:n} "Mass that moves with both links";
equation
  for i in 1:n loop
    der(q[i]) = joint[i].w;
    joint[i].a = der(joint[i].w);
    theta[i] = sum(q[1:i]);
    w[i] = sum(joint[k].w for k in 1:i);
    dw[i] = sum(joint[k].a for k in 1:i);
    tau[i] = drive[i]*sin(omega[i]*time) - joint[i].tau;
    // Point masses at the ends of massless links, seen from the angles of the links.
    sum(beyond[i, j]*l[i]*l[j]*(cos(theta[i] - theta[j])*dw[j] + sin(theta[i] - theta[j])*w[j]^2) for j in 1:n) = tau[i] - (if i < n then tau[min(i + 1, n)] else 0);
  end for;
  structure = sum(if joint[k].mode == 0 then 0 else integer(2^(k - 1)) for k in 1:n);
  annotation (experiment(StopTime = 3.2, Tolerance = 1e-8), Documentation(info = "<html><p>An arm of six links in a horizontal plane is driven in its joints against dry friction. Each joint is stuck or turns: 64 structures, one program. A joint that breaks loose
or stops may free others at the same instant.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = joint[1].w), Curve(y = joint[2].w), Curve(y = joint[3].w), Curve(y = joint[4].w), Curve(y = joint[5].w), Curve(y = joint[6].w), Curve(y = structure)})})}));
end RobotChain;
