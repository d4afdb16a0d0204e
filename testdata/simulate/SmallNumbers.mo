model SmallNumbers "Numbers that would lie within the band of a relation of usual magnitude"
  Real x(start = 0, fixed = true);
  Integer n(start = 0, fixed = true);
  Integer m(start = 0, fixed = true);
equation
  der(x) = 1;
  when 1e-13*sin(x) > 0.5e-13 then
    n = pre(n) + 1;
  end when;
  when 1e-18*sin(time) > 0.5e-18 then
    m = pre(m) + 1;
  end when;
  annotation (experiment(StopTime = 20));
end SmallNumbers;
// at t=20: n = 4 ± 0.1 (closed form: sin x rises through 1/2 at π/6 + 2πk)
// at t=20: m = 4 ± 0.1 (closed form: the same)
