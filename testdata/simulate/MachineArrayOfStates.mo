// States that are elements of an array: 1 until 0.2, 2 until 0.3, then a slope of 3 for 0.7 s.
model MachineArrayOfStates
  model S
    parameter Real k;
    Real x(start = 0, fixed = true);
  equation
    der(x) = k;
  end S;
  S s[3](k = {1, 2, 3});
equation
  initialState(s[1]);
  for i in 1:2 loop
    transition(s[i], s[i + 1], s[i].x >= 0.2);
  end for;
end MachineArrayOfStates;
// at t=1: s[3].x = 2.1 ± 1e-8 (closed form)
