// States that are entered as linear models. With d = x - x_P, d' = f_P + A d:
// decay from 1:  d = -(1 - exp(-2 t))/2, y = 1 + 3 d, also while another machine changes;
// cube, by a function: d = -(1 - exp(-3 t))/3;
// entered at 0.5 with 2: d = -(1 - exp(-4 (t - 0.5)));
// a switch at 0.8 keeps its threshold: until t1 = -ln(0.6)/2, then d = -1/3 + 0.4/3*exp(-3 (t - t1)).
model LinearisedStates
  function f
    input Real x;
    output Real y;
  algorithm
    y := x;
    for i in 1:2 loop
      y := y*x;
    end for;
  end f;
  model Decay
    Real x(start = 1, fixed = true), y;
  equation
    der(x) = -x^2;
    y = x^3;
  end Decay;
  model Cube
    Real x(start = 1, fixed = true);
  equation
    der(x) = -f(x);
  end Cube;
  model Switch
    Real x(start = 1, fixed = true);
  equation
    der(x) = if x > 0.8 then -x^2 else -x^3;
  end Switch;
  model Ramp
    parameter Real k = 1;
    Real z(start = 0, fixed = true);
  equation
    der(z) = k;
  end Ramp;
  Decay decay annotation (__Saltus(linearized = true));
  Cube cube annotation (__Saltus(linearized = true));
  Switch switch annotation (__Saltus(linearized = true));
  Ramp ramp(k = 4);
  Decay entered annotation (__Saltus(linearized = true));
  Ramp a, b;
equation
  initialState(decay);
  initialState(cube);
  initialState(switch);
  initialState(ramp);
  transition(ramp, entered, ramp.z >= 2);
  when activeState(entered) then
    reinit(entered.x, pre(ramp.z));
  end when;
  initialState(a);
  transition(a, b, a.z >= 0.2);
  transition(b, a, b.z >= 0.2);
  annotation(experiment(StopTime = 1, Tolerance = 1e-10));
end LinearisedStates;
// at t=0.5: decay.x = 0.6839397205857212 ± 1e-8 (closed form)
// at t=0.5: decay.y = 0.05181916175716348 ± 1e-8 (closed form)
// at t=0.5: cube.x = 0.7410433867161433 ± 1e-8 (closed form)
// at t=0.5: switch.x = 0.7306798671 ± 1e-7 (closed form)
// at t=1: entered.x = 1.1353352832366128 ± 1e-7 (closed form)
