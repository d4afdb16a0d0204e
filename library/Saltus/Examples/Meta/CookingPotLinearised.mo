within Saltus.Examples.Meta;
model CookingPotLinearised "A pot that radiates, linear around where it was last looked at"
  extends Icons.Example;
  model Pot "Water that is heated and radiates"
    parameter Units.HeatCapacity C = 8400 "Of two litres of water";
    parameter Units.ThermalConductance G = 8 "To the kitchen";
    parameter Real K(unit = "W/K4") = 1e-8 "Of the radiation";
    parameter Units.Temperature Tkitchen = 293.15 "Of the kitchen";
    Blocks.RealInput P "Power";
    Units.Temperature T(start = 293.15, fixed = true) "Of the water";
    Units.Power loss = G*(T - Tkitchen) + K*(T^4 - Tkitchen^4) "To the kitchen";
  equation
    C*der(T) = P - loss;
  end Pot;
  parameter Units.Temperature Thot = 363.15 "Reduce the power above";
  parameter Units.Temperature Tcool = 353.15 "Full power below";
  Pot pot annotation (__Saltus(linearized = true));
  Blocks.Constant full(k = 2000) "HMAX";
  Blocks.Constant reduced(k = 200) "HR";
equation
  initialState(full);
  transition(full, reduced, pot.T >= Thot);
  transition(reduced, full, pot.T <= Tcool);
  initialState(pot);
  transition(pot, pot, Saltus.Meta.excursion(pot) > 15);
  connect(full.y, pot.P);
  connect(reduced.y, pot.P);
  annotation (experiment(StopTime = 1200, Tolerance = 1e-10), Documentation(info = "<html><p>The cooking pot of section 8.2 of the thesis with the repeated linearisation of section 8.5.1: losses by radiation are linear in the temperature around the point where they were last linearised, and the pot is linearised again
when it has moved by 15 K. The power comes from outside; the linear model takes it as it is.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = pot.T), Curve(y = pot.loss)})})}));
end CookingPotLinearised;
