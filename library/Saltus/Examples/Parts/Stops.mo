within Saltus.Examples.Parts;
model Stops "A mass between hard stops"
  extends Icons.Example;
  Mechanics.Translational.MassWithStops slider(m = 1, low = -1, high = 1, e = 0.8, s(start = 0, fixed = true), v(start = 3, fixed = true));
  annotation (experiment(StopTime = 3), Documentation(info = "<html><p>A mass moves freely between two walls. At each impact it loses a fifth of its speed. The times between the impacts grow in the same ratio.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = slider.s), Curve(y = slider.v)})})}));
end Stops;
