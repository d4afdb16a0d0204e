within Saltus.Electrical;
model Ground "Potential zero"
  Pin p annotation (Placement(transformation(extent = {{-10, 90}, {10, 110}})));
equation
  p.v = 0;
  annotation (Icon(graphics = {Line(points = {{0, 90}, {0, 20}}, color = {0, 0, 255}), Line(points = {{-60, 20}, {60, 20}}, color = {0, 0, 255}),
    Line(points = {{-35, -5}, {35, -5}}, color = {0, 0, 255}), Line(points = {{-12, -30}, {12, -30}}, color = {0, 0, 255})}));
end Ground;
