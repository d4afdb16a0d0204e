within Saltus.Examples.E1999;
model BouncingBall2 "The ball that comes to rest"
  extends Icons.Example;
  parameter Real e(min = 0, max = 1) = 0.5 "Part of the speed that is left after an impact";
  parameter Units.Acceleration g = 9.81 "Acceleration of gravity";
  parameter Units.Velocity vSmall = 0.00001 "A slower rebound is none";
  Units.Length h(start = 1, fixed = true) "Height";
  Units.Velocity v(start = 0, fixed = true) "Velocity";
  Boolean flying(start = true, fixed = true) "Mode";
  Integer impacts(start = 0, fixed = true) "Impacts so far";
equation
  if pre(flying) then
    der(h) = v;
    der(v) = -g;
  else
    der(h) = 0;
    der(v) = 0;
  end if;
  when h < 0 then
    reinit(h, 0);
    reinit(v, if -e*pre(v) > vSmall then -e*pre(v) else 0);
    flying = -e*pre(v) > vSmall;
    impacts = pre(impacts) + 1;
  end when;
  annotation (experiment(StopTime = 2), Documentation(info = "<html><p>Two modes: it flies or it lies. In the report <code>v</code> behind the <code>reinit</code> already had its new value; in today's language the new value
comes with the next iteration, so the condition is written with what will be assigned.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = h), Curve(y = v), Curve(y = flying)})})}));
end BouncingBall2;
