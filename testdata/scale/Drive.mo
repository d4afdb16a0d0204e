model Drive "A direct-current motor turns a load through an elastic shaft; speed and current are controlled once in a millisecond"
  parameter Real R(unit = "Ohm") = 0.5;
  parameter Real L(unit = "H") = 2e-3;
  parameter Real k(unit = "N.m/A") = 0.1;
  parameter Real J[2](each unit = "kg.m2") = {1e-3, 4e-3} "motor and load";
  parameter Real c(unit = "N.m/rad") = 50;
  parameter Real d(unit = "N.m.s/rad") = 0.02;
  parameter Real period(unit = "s") = 1e-3;
  Real i(unit = "A", start = 0, fixed = true);
  Real w[2](each unit = "rad/s", each start = 0, each fixed = true);
  Real twist(unit = "rad", start = 0, fixed = true);
  Real torque(unit = "N.m") = c * twist + d * (w[1] - w[2]);
  discrete Real v(unit = "V", start = 0, fixed = true) "voltage held by the current controller";
  discrete Real target(unit = "A", start = 0, fixed = true) "current wanted by the speed controller";
  discrete Real integral[2](each start = 0, each fixed = true);
  Real wanted(unit = "rad/s") = 50 + 20 * sin(2 * time);
equation
  L * der(i) = v - R * i - k * w[1];
  J[1] * der(w[1]) = k * i - torque;
  J[2] * der(w[2]) = torque - 0.01 * w[2];
  der(twist) = w[1] - w[2];
  when sample(0, period) then
    integral[1] = pre(integral[1]) + period * (wanted - w[1]);
    target = max(-20, min(20, 0.4 * (wanted - w[1]) + 2 * integral[1]));
    integral[2] = pre(integral[2]) + period * (target - i);
    v = max(-48, min(48, 1.0 * (target - i) + 100 * integral[2]));
  end when;
  annotation(experiment(StopTime = 10));
end Drive;
