within Saltus.Examples.E1999;
model FrictionSimple "A block with the simplified friction of figure 10"
  extends Icons.Example;
  parameter Units.Mass m = 1 "Mass of the block";
  parameter Units.Force f0 = 1 "Friction at rest and while sliding slowly";
  parameter Units.Damping f1 = 0.5 "Additional friction for each unit of velocity";
  Units.Force u = 2*sin(time) "Driving force";
  Units.Velocity v(start = 0, fixed = true) "Velocity";
  Units.Acceleration a "Acceleration";
  Units.Force f "Friction";
  Real s "Parameter of the curve";
  Boolean fullSliding(start = false, fixed = true) "The curve is that of figure 10, not of figure 11";
equation
  a = der(v);
  m*a = u - f;
  if pre(fullSliding) and s > 1 then
    v = s - 1;
    f = f0 + f1*v;
    fullSliding = true;
  elseif pre(fullSliding) and s < -1 then
    v = s + 1;
    f = -f0 + f1*v;
    fullSliding = true;
  elseif s > 1 then
    a = s - 1;
    f = f0;
    fullSliding = v > 0;
  elseif s < -1 then
    a = s + 1;
    f = -f0;
    fullSliding = v < 0;
  else
    a = 0;
    f = f0*s;
    fullSliding = false;
  end if;
  annotation (experiment(StopTime = 12), Documentation(info = "<html><p>While the block is stuck its acceleration is zero and the parameter is the friction force. When that exceeds what friction can give, the block begins to slide. The
velocity of a stuck block stays zero to rounding.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = u), Curve(y = f), Curve(y = v)})})}));
end FrictionSimple;
