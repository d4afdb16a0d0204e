within Saltus.Electrical;
model GateTurnOff "Thyristor that conducts only while it is fired"
  extends Semiconductor;
  Blocks.BooleanInput fire "Let it conduct" annotation (Placement(transformation(extent = {{-20, -20}, {20, 20}}, rotation = -90, origin = {60, 80})));
equation
  off = s < 0 or not fire;
  annotation (Icon(graphics = {Line(points = {{40, 0}, {60, 60}}, color = {0, 0, 255}), Line(points = {{44, 30}, {58, 24}}, color = {0, 0, 255})}));
end GateTurnOff;
