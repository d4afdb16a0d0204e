// A state that is given as a function of time: the equation must be differentiated.
model Constraint
  Real x, v;
equation
  der(x) = v;
  x = sin(time);
  annotation (experiment(StopTime = 1));
end Constraint;
// at t=1: v = 0.5403023058681398 ± 1e-9 (closed form: cos(t))
