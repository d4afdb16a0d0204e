// A clocked `when` in a state: its equations belong to the state, its clock to the machine (specification 17.1).
model ClockedWhenInState
  block Up
    outer output Integer i;
    outer Clock c;
    Integer n(start = 0);
  equation
    i = previous(i) + 1;
    when subSample(c, 2) then
      n = previous(n) + 2;
    end when;
  end Up;
  block Down
    outer output Integer i;
  equation
    when Clock() then
      i = previous(i) - 1;
    end when;
  end Down;
  inner Integer i(start = 0);
  inner Clock c = Clock(1, 10);
  Up up;
  Down down;
equation
  initialState(up);
  transition(up, down, i >= 3, immediate = false);
  transition(down, up, i <= 0, immediate = false);
  annotation (experiment(StopTime = 2.1));
end ClockedWhenInState;
// at t=0.05: i = 1 ± 0 (ticks at 0, 0.2, 0.4, …: 1 2 3 2 1 0 1 2 3 2 1)
// at t=0.45: i = 3 ± 0 (the third tick)
// at t=0.45: up.n = 6 ± 0 (three ticks)
// at t=1.05: i = 0 ± 0 (the sixth tick)
// at t=1.05: up.n = 6 ± 0 (held while the state is not active)
// at t=1.25: up.n = 2 ± 0 (entering resets it to its start value)
// at t=2.05: i = 1 ± 0 (the eleventh tick)
