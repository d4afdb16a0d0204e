within Saltus.Mechanics.Rotational;
model Torque "A torque from outside"
  Blocks.RealInput tau "Torque on what is connected" annotation (Placement(transformation(extent = {{-140, -20}, {-100, 20}})));
  Flange flange annotation (Placement(transformation(extent = {{90, -10}, {110, 10}})));
equation
  flange.tau = -tau;
  annotation (Icon(graphics = {Line(points = {{-60, -40}, {-40, 40}, {40, 40}, {60, -40}}, color = {95, 95, 95}, smooth = Smooth.Bezier, arrow = {Arrow.None, Arrow.Filled})}));
end Torque;
