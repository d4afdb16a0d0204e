within Saltus.Electrical;
model Switch "Ideal switch: one equation whose causality depends on its position"
  Blocks.BooleanInput open "No current while true, no voltage while false" annotation (Placement(transformation(extent = {{-20, -20}, {20, 20}}, rotation = -90, origin = {0, 80})));
  extends TwoPin;
protected
  constant Units.Resistance unitResistance = 1;
equation
  0 = if open then unitResistance*i else u;
  annotation (Icon(graphics = {Line(points = {{-60, 0}, {-30, 0}, {30, 35}}, color = {0, 0, 255}), Line(points = {{30, 0}, {60, 0}}, color = {0, 0, 255})}),
    Documentation(info = "<html><p>Not to be put in series with an inductor or parallel to a capacitor: there the number of states would depend on the position.</p></html>"));
end Switch;
