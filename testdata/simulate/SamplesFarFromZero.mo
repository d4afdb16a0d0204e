model SamplesFarFromZero "A thousand ticks in a billionth of the time since 0 are progress"
  Integer n(start = 0, fixed = true);
equation
  when sample(1e9, 1e-3) then
    n = pre(n) + 1;
  end when;
  annotation (experiment(StartTime = 1e9, StopTime = 1000000005));
end SamplesFarFromZero;
// at t=1000000002.0005: n = 2001 ± 0 (closed form: one tick at the start, a thousand each second)
// at t=1000000005: n = 5001 ± 0 (closed form)
