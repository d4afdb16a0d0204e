within Saltus.Examples.E1997;
model DiscreteController "A controller changes the input of a continuous system at fixed instants"
  extends Icons.Example;
  Blocks.Step wanted(height = 1, startTime = 0.5);
  Blocks.Difference difference;
  Blocks.SampledPI controller(period = 0.2, k = 1.5, Ti = 1, high = 2, low = 0);
  Blocks.FirstOrder plant(T = 1, k = 1);
equation
  connect(wanted.y, difference.u1);
  connect(plant.y, difference.u2);
  connect(difference.y, controller.u);
  connect(controller.y, plant.u);
  annotation (experiment(StopTime = 6), Documentation(info = "<html><p>Only an input changes at these events, no state does. The controller computes five times a second from what it measures. Its output is limited, and its integral waits while it is.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = wanted.y), Curve(y = plant.y), Curve(y = controller.y)})})}));
end DiscreteController;
