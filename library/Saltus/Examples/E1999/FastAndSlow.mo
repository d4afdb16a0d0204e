within Saltus.Examples.E1999;
model FastAndSlow "Two sampling rates that meet by construction"
  extends Icons.Example;
  Boolean fastSample, slowSample(start = false, fixed = true);
  Integer ticks(start = 0, fixed = true) "Fast samples since the last slow one";
  Integer fast(start = 0, fixed = true) "Fast samples so far";
  Integer slow(start = 0, fixed = true) "Slow samples so far";
  discrete Units.Time lastSlow(start = -1, fixed = true) "Time of the latest slow sample";
equation
  fastSample = sample(0, 1);
  when fastSample then
    ticks = if pre(ticks) < 4 then pre(ticks) + 1 else 0;
    slowSample = pre(ticks) == 0;
    fast = pre(fast) + 1;
  end when;
  when slowSample then
    slow = pre(slow) + 1;
    lastSlow = time;
  end when;
  annotation (experiment(StopTime = 23.5), Documentation(info = "<html><p>A counter makes every fifth fast sample a slow one, so that both happen in the same event. The report counts from 0 to 5, which is every sixth; here it is
0 to 4. (Saltus lets <code>sample(0, 1)</code> and <code>sample(0, 5)</code> meet in any case.)</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = ticks), Curve(y = fast), Curve(y = slow)})})}));
end FastAndSlow;
