within Saltus.Electrical;
model Thyristor "Blocks until it is fired, then conducts until its current vanishes"
  extends Semiconductor;
  Blocks.BooleanInput fire "Let it conduct" annotation (Placement(transformation(extent = {{-20, -20}, {20, 20}}, rotation = -90, origin = {60, 80})));
equation
  off = s < 0 or pre(off) and not fire;
  annotation (Icon(graphics = {Line(points = {{40, 0}, {60, 60}}, color = {0, 0, 255})}));
end Thyristor;
