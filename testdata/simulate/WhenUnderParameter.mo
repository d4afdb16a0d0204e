// The condition of an if-equation around a `when` is evaluated, whatever the other branch holds (specification 8.3.5).
model WhenUnderParameter
  parameter Boolean isHeld = true;
  parameter Boolean isFree = false;
  Real x(start = 0, fixed = true);
  Real y(start = 0, fixed = true);
  Real z(start = 0, fixed = true);
equation
  der(x) = 1;
  if isHeld then
    when x > 0.5 then
      y = 2*x;
    end when;
  else
    y = x;
  end if;
  if isFree then
    when x > 0.5 then
      z = 1;
    end when;
  else
    der(z) = 3;
  end if;
end WhenUnderParameter;
// at t=1: y = 1 ± 1e-6 (closed form: 2*0.5, held since the event)
// at t=1: z = 3 ± 1e-6 (closed form: 3*t)
