within Saltus.Blocks;
block LimitedPID "Continuous PID controller with limited output and an integral that does not wind up"
  parameter Real k = 1 "Gain";
  parameter Units.Time Ti(min = 1e-12, start = 1) "Integration time";
  parameter Units.Time Td(min = 0) = 0 "Derivation time";
  parameter Real N(min = 1) = 10 "The derivative is filtered with time constant Td/N";
  parameter Units.Time Tt(min = 1e-12) = Ti "Time constant with which the integral follows a limited output";
  parameter Real high = 1 "Upper limit of the output";
  parameter Real low = -high "Lower limit of the output";
  extends SISO;
  Real integral(start = 0, fixed = true) "Integral part";
  Real wanted "Output without limits";
protected
  Real slow(start = 0, fixed = true) "Filtered input";
  Real derivative "Derivative part";
equation
  der(slow) = if Td > 0 then (u - slow)*N/Td else 0;
  derivative = if Td > 0 then k*N*(u - slow) else 0;
  wanted = k*u + integral + derivative;
  y = if wanted > high then high else if wanted < low then low else wanted;
  der(integral) = k*u/Ti + (y - wanted)/Tt;
  annotation (Icon(graphics = {Text(extent = {{-80, 40}, {80, -40}}, textString = "PID")}));
end LimitedPID;
