// Discrete variables that loops decide about whose number of rounds is known at run time only: they change at events of their own.
model StaircasesOfLoops
  type Size = enumeration(small, medium, large);
  Integer k(start = 0), root[3](each start = 0), wave(start = 0);
  Boolean isMany(start = false);
  Size size(start = Size.small);
  Real total(start = 0, fixed = true) "integral of a staircase: right only if each step is an event";
  Real z(start = 0, fixed = true);
  Integer counted(start = 0, fixed = true);
  function ceiling "Without events"
    input Real x;
    output Real y = 0;
  algorithm
    while y < x loop
      y := y + 3;
    end while;
  end ceiling;
algorithm
  k := 0;
  isMany := false;
  size := Size.small;
  while noEvent(k < 16*time) loop
    k := k + 1;
    isMany := k > 7;
    size := if k > 12 then Size.large elseif k > 6 then Size.medium else Size.small;
  end while;
algorithm
  for i in 1:3 loop
    root[i] := 0;
    while noEvent(root[i]*root[i] < 10*i*time) loop
      root[i] := root[i] + 1;
    end while;
  end for;
algorithm
  wave := 0;
  while noEvent(wave < -20*sin(6*time)) loop
    wave := wave + 3;
  end while;
  while noEvent(wave > -20*sin(6*time)) loop
    wave := wave - 3;
  end while;
equation
  der(total) = k;
  der(z) = 1;
algorithm
  when ceiling(20*z) > pre(counted) + 0.5 then
    counted := integer(ceiling(20*z) + 0.5);
  end when;
  annotation (experiment(StopTime = 1));
end StaircasesOfLoops;
// at t=0.47: k = 8 ± 0 (closed form: ceil(16 t))
// at t=0.43: isMany = 0 ± 0 (k is 7)
// at t=0.44: isMany = 1 ± 0 (k is 8)
// at t=0.37: size = 1 ± 0 (k is 6)
// at t=0.38: size = 2 ± 0 (k is 7)
// at t=0.76: size = 3 ± 0 (k is 13)
// at t=0.97: total = 8.02 ± 1e-6 (closed form: (1 + … + 15)/16 + 16 (0.97 - 15/16))
// at t=0.5: root[1] = 3 ± 0 (closed form: ceil(sqrt(10 t)))
// at t=0.5: root[2] = 4 ± 0 (closed form: ceil(sqrt(20 t)))
// at t=0.5: root[3] = 4 ± 0 (closed form: ceil(sqrt(30 t)))
// at t=0.2: wave = -21 ± 0 (closed form: 3 floor(-20 sin(6 t)/3), while the sine is positive)
// at t=0.02: wave = -3 ± 0 (closed form: the same)
// at t=0.8: wave = 18 ± 0 (closed form: the same, while the sine is negative)
// at t=0.4: counted = 9 ± 0 (closed form: 3 ceil(20 t/3))
// at t=0.95: counted = 21 ± 0 (closed form: the same)
