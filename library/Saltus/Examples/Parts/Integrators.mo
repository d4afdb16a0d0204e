within Saltus.Examples.Parts;
model Integrators "Integrals that start again, and sums at pulses"
  extends Icons.Example;
  Blocks.Ramp ramp(height = 4, duration = 4);
  Blocks.Integrator plain;
  Blocks.ResetIntegrator sawtooth;
  Blocks.TriggeredIntegrator steps;
  Blocks.BooleanPulse pulse(period = 1, width = 0.25, startTime = 1);
  Blocks.Pulse weight(amplitude = 2, offset = 1, period = 0.7, width = 0.5);
equation
  connect(ramp.y, plain.u);
  sawtooth.u = 1;
  connect(pulse.y, sawtooth.reset);
  connect(weight.y, steps.u);
  connect(pulse.y, steps.trigger);
  annotation (experiment(StopTime = 4.5), Documentation(info = "<html><p>The plain integral of a ramp is a parabola. The one with a reset is a saw. The triggered one adds the value that its input has at the begin of each pulse.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = plain.y), Curve(y = sawtooth.y), Curve(y = steps.y)})})}));
end Integrators;
