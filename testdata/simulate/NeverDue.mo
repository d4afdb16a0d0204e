// A time event at the largest number never comes, and does not keep the others from coming.
model NeverDue
  discrete Real next(start = 1.7976931348623157e308, fixed = true) "Never";
  Real x(start = 0, fixed = true);
equation
  der(x) = 1;
  when time >= pre(next) then
    next = pre(next);
  end when;
  annotation (experiment(StopTime = 1));
end NeverDue;
// at t=1: x = 1 ± 1e-9 (closed form: x = t)
