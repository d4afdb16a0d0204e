within Saltus.Mechanics.Translational;
model FrictionAutomaton "Dry friction between two flanges, as a finite automaton"
  parameter Units.Force R0(start = 1) "Force to break loose";
  parameter Units.Force Rm(start = 1) "Friction while sliding slowly";
  parameter Units.Damping Rv = 0 "Additional friction for each unit of velocity";
  extends TwoFlanges;
  Units.Velocity v "Velocity of b less that of a";
  Units.Acceleration a_rel "Its derivative";
  Units.Force fc "Force that keeps the flanges together while they are stuck, else zero";
  Boolean starting(start = true, fixed = true) "The state before the first event";
  Boolean forward(start = false, fixed = true) "Slides forwards";
  Boolean startForward(start = false, fixed = true) "Begins to slide forwards";
  Boolean backward(start = false, fixed = true) "Slides backwards";
  Boolean startBackward(start = false, fixed = true) "Begins to slide backwards";
  Boolean stuck "None of the others";
protected
  constant Units.Mass unitMass = 1;
equation
  v = der(s_rel);
  a_rel = der(v);
  f = if pre(forward) then Rv*v + Rm else if pre(backward) then Rv*v - Rm else if pre(startForward) then Rm else if pre(startBackward) then -Rm else fc;
  0 = if stuck or pre(starting) then unitMass*a_rel else fc;
  stuck = not (pre(starting) or pre(forward) or pre(startForward) or pre(backward) or pre(startBackward));
  forward = pre(starting) and v > 0 or pre(startForward) and v > 0 or pre(forward) and not v <= 0;
  backward = pre(starting) and v < 0 or pre(startBackward) and v < 0 or pre(backward) and not v >= 0;
  startForward = stuck and fc > R0 or pre(startForward) and not (v > 0 or a_rel <= 0 and not v > 0);
  startBackward = stuck and fc < -R0 or pre(startBackward) and not (v < 0 or a_rel >= 0 and not v < 0);
  starting = false;
  annotation (Icon(graphics = {Rectangle(extent = {{-60, 30}, {60, 0}}, lineColor = {0, 127, 0}), Line(points = {{-70, 0}, {70, 0}}, color = {0, 0, 0}), Text(extent = {{-60, 30}, {60, 0}}, textString = "FSM")}),
    Documentation(info = "<html><p>The paper of 1993 writes the next state as <code>new(x)</code> and the present one as <code>x</code>; today these are <code>x</code> and <code>pre(x)</code>. It also
sets the velocity to zero on getting stuck; events are located so exactly that this is not needed here.</p></html>"));
end FrictionAutomaton;
