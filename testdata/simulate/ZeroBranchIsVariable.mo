// A branch that is zero by the value of a parameter is a variable: it stays in the equation that determines it.
model ZeroBranchIsVariable
  parameter Real C = 0;
  Real c, x(start = 1, fixed = true);
equation
  c = 2*C;
  der(x) = -(if time < 0.5 then c else 1)*x;
end ZeroBranchIsVariable;
// at t=0.5: x = 1 ± 1e-9 (closed form)
// at t=1: x = 0.60653065971263342 ± 1e-6 (closed form: exp(-0.5))
// at t=1: c = 0 ± 0 (closed form)
