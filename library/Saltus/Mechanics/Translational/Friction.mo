within Saltus.Mechanics.Translational;
model Friction "Dry friction between two flanges, as a parameterised curve"
  parameter Units.Force f0(min = 1e-12, start = 1) "Friction while sliding slowly";
  parameter Units.Damping f1(min = 0) = 0 "Additional friction for each unit of velocity";
  parameter Real peak(min = 1) = 1 "Force to break loose, divided by f0";
  extends TwoFlanges;
  Units.Velocity v "Velocity of b less that of a";
  Units.Acceleration a_rel "Its derivative";
  Real s "Parameter of the curve: force while stuck, velocity or acceleration while it slides";
  Integer mode(start = Stuck, fixed = true, min = Backward, max = Forward) "One of the five below";
  constant Integer Forward = 2 "Slides forwards";
  constant Integer StartForward = 1 "Begins to slide forwards";
  constant Integer Stuck = 0 "Does not move";
  constant Integer StartBackward = -1 "Begins to slide backwards";
  constant Integer Backward = -2 "Slides backwards";
protected
  constant Units.Velocity unitVelocity = 1;
  constant Units.Acceleration unitAcceleration = 1;
equation
  v = der(s_rel);
  a_rel = der(v);
  if pre(mode) == Forward and s > 1 then
    v = unitVelocity*(s - 1);
    f = f0 + f1*v;
    mode = Forward;
  elseif pre(mode) == Backward and s < -1 then
    v = unitVelocity*(s + 1);
    f = -f0 + f1*v;
    mode = Backward;
  elseif pre(mode) <= Stuck and s > peak or pre(mode) > Stuck and s > 1 then
    a_rel = unitAcceleration*(s - (if pre(mode) > Stuck then 1 else peak));
    f = f0;
    mode = if v > 0 then Forward else StartForward;
  elseif pre(mode) >= Stuck and s < -peak or pre(mode) < Stuck and s < -1 then
    a_rel = unitAcceleration*(s + (if pre(mode) < Stuck then 1 else peak));
    f = -f0;
    mode = if v < 0 then Backward else StartBackward;
  else
    a_rel = 0;
    f = f0*s;
    mode = Stuck;
  end if;
  annotation (Icon(graphics = {Rectangle(extent = {{-60, 30}, {60, 0}}, lineColor = {0, 127, 0}), Line(points = {{-70, 0}, {70, 0}}, color = {0, 0, 0}), Line(points = {{-60, -15}, {-45, 0}}, color = {0, 0, 0}), Line(points = {{-10, -15}, {5, 0}}, color = {0, 0, 0}), Line(points = {{40, -15}, {55, 0}}, color = {0, 0, 0})}),
    Documentation(info = "<html><p>While the element begins to slide, the report of 1999 counts the acceleration from <code>s = 1</code>. Then no mode fits if it breaks loose with an acceleration below
<code>peak - 1</code>; here it is counted from where the mode is entered, <code>s = peak</code>.</p></html>"));
end Friction;
