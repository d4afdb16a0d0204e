within Saltus.Electrical;
model ConstantCurrent "Source of constant current"
  parameter Units.Current I(start = 1) "Current from p to n";
  extends TwoPin;
equation
  i = I;
  annotation (Icon(graphics = {Ellipse(extent = {{-50, 50}, {50, -50}}, lineColor = {0, 0, 255}), Line(points = {{0, 50}, {0, -50}}, color = {0, 0, 255})}));
end ConstantCurrent;
