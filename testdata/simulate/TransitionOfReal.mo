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
//                 ^^^^^^^ error[E0327]: argument 3 (`condition`) of `transition` must be Boolean, but `a.x + 1.0` is Real
  transition(b, a, "no", priority = 2.5);
//                 ^^^^ error[E0327]: argument 3 (`condition`) of `transition` must be Boolean, but `"no"` is String
//                                  ^^^ error[E0327]: argument 7 (`priority`) of `transition` must be Integer, but `2.5` is Real
end TransitionOfReal;
