within Saltus.Electrical;
model SignalCurrent "Source whose current is an input"
  Blocks.RealInput c "Current from p to n" annotation (Placement(transformation(extent = {{-20, -20}, {20, 20}}, rotation = -90, origin = {0, 80})));
  extends TwoPin;
equation
  i = c;
  annotation (Icon(graphics = {Ellipse(extent = {{-50, 50}, {50, -50}}, lineColor = {0, 0, 255}), Line(points = {{0, 50}, {0, -50}}, color = {0, 0, 255})}));
end SignalCurrent;
