within Saltus.Examples.E1999;
model Hysteresis "A characteristic with two branches (figure 7)"
  extends Icons.Example;
  Blocks.Hysteresis hysteresis(high = 1, low = -1, y0 = 1);
equation
  hysteresis.u = 2*sin(2*Units.pi*time);
  annotation (experiment(StopTime = 2), Documentation(info = "<html><p>Between the thresholds the output is what it was before. The upper branch is entered when the input reaches 1 and left when it falls to −1. In the report the start
value could refer to that of another variable; today it is a parameter.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = hysteresis.u), Curve(y = hysteresis.y)})})}));
end Hysteresis;
