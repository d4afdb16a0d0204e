model TransitionOfReal "A transition fires on a Boolean"
  block S
    Real x(start = 0, fixed = true);
  equation
    der(x) = 1;
  end S;
  S a, b;
equation
  initialState(a);
  transition(a, b, a.x + 1);
//                 ^^^^^^^ error[E0303]: argument 3 `condition` of `transition` expects Boolean, found Real
  transition(b, a, "no", priority = 2.5);
//                 ^^^^ error[E0303]: argument 3 `condition` of `transition` expects Boolean, found String
//                                  ^^^ error[E0303]: argument 7 `priority` of `transition` expects Integer, found Real
end TransitionOfReal;
