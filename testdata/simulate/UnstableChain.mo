model UnstableChain "A nonlinear loop whose unknowns follow from two of them, with errors that grow from one to the next"
  parameter Integer n = 60;
  Real x[n], s[n], q[n];
equation
  s[1] = x[1];
  q[n] = s[n];
  for i in 2:n loop
    s[i] = s[i - 1] + x[i];
    q[i - 1] = q[i] + s[i - 1];
  end for;
  for i in 1:n loop
    x[i] + q[i] + 0.1*sin(q[i]) = sin(i);
//  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error[E0901]: the simulation failed at time 0: a nonlinear loop of 2 equations has no solution: rounding errors grow from variable to variable, so that what was found does not fulfil the equations (in the initial system)
  end for;
end UnstableChain;
