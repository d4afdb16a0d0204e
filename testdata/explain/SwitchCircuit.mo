// The switch circuit of the paper of 1993: a current source with a parallel resistor feeds a capacitor and its load
// through an ideal switch. The switch equation can be solved for the current in one position and for the voltage in the
// other, so it stays inside its loop.
model SwitchCircuit
  parameter Real R1 = 100;
  parameter Real R2 = 20;
  parameter Real C = 1e-7;
  parameter Real I0 = 1;
  Boolean open = time < 1e-6 or time >= 2.5e-6 and time < 5e-6 or time >= 9e-6;
  Real va "node of source, resistor and switch";
  Real vc(start = 0, fixed = true) "node of switch, load and capacitor";
  Real iR1, iR2, iSw, uSw, iC;
equation
  R1 * iR1 = va;
  iSw + iR1 = I0;
  0 = if open then iSw else uSw;
  uSw = va - vc;
  R2 * iR2 = vc;
  iC + iR2 = iSw;
  C * der(vc) = iC;
  annotation (experiment(StopTime = 2e-6));
end SwitchCircuit;
// at t=2e-6: vc = 7.519806 ± 5e-3 (closed form: 50/3 * (1 - exp(-0.6)), the switch being closed since 1e-6)
