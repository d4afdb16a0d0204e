model UnknownInitialReinit "Whether there is an initial equation must not depend on the solution"
  Real x(start = 3);
  Real y(start = 0, fixed = true);
equation
  der(x) = -x;
  der(y) = 1;
  when initial() then
    if y > 1 then
      reinit(x, 5);
//    ^^^^^^^^^^^^ error[E0950]: whether this reinit gives x its initial value depends on a condition that is not known before the simulation
    end if;
  end when;
end UnknownInitialReinit;
