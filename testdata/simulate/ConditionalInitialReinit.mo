model ConditionalInitialReinit "A reinit in a branch is an initial equation where the branch is taken at the start"
  parameter Boolean steady = true;
  Boolean again = time > 0.5;
  Real x, y, z(start = 2, fixed = true);
equation
  der(x) = -2*x + 12;
  der(y) = -y;
  der(z) = 1;
  when {initial(), again} then
    if not (initial() and steady) then
      reinit(x, 7);
    end if;
    if time < 0.1 then
      reinit(y, 5);
    else
      reinit(y, 2*pre(y));
    end if;
  end when;
initial equation
  if steady then
    der(x) = 0;
  end if;
  annotation (experiment(Tolerance = 1e-9));
end ConditionalInitialReinit;
// at t=0: x = 6 ± 1e-9 (closed form: steady, the reinit does not count)
// at t=1: x = 6.367879441171442 ± 1e-7 (closed form: 6 + exp(-2*0.5))
// at t=0: y = 5 ± 1e-9 (closed form: the first branch)
// at t=1: y = 3.6787944117144233 ± 1e-7 (closed form: 2*5*exp(-1))
