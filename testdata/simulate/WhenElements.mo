// Elements that parameters choose, set by several when-clauses; a reinit of such an element.
model WhenElements
  parameter Integer k = 2;
  discrete Real y[3](each start = 0, each fixed = true);
  Real x[3](each start = 0, each fixed = true);
equation
  der(x) = {1, 1, 1};
  when time > 0.5 then
    y[k] = 5;
    reinit(x[k], 10);
  end when;
  when time > 0.3 then
    y[k - 1] = 1;
    y[k + 1] = 3;
  end when;
end WhenElements;
// at t=0.4: y[1] = 1 ± 1e-12 (as assigned)
// at t=0.4: y[2] = 0 ± 1e-12 (as assigned)
// at t=0.4: y[3] = 3 ± 1e-12 (as assigned)
// at t=1: y[2] = 5 ± 1e-12 (closed form: slope 1)
// at t=1: x[2] = 10.5 ± 1e-9 (closed form: slope 1)
// at t=1: x[1] = 1 ± 1e-9 (closed form: slope 1)
