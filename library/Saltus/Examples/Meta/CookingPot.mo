within Saltus.Examples.Meta;
model CookingPot "Two parameter models feed a pot in turn"
  extends Icons.Example;
  model Pot "Water that is heated (POT)"
    parameter Units.HeatCapacity C = 8400 "Of two litres of water";
    parameter Units.ThermalConductance G = 8 "To the kitchen";
    parameter Units.Temperature Tkitchen = 293.15 "Of the kitchen";
    Blocks.RealInput P "Power";
    Units.Temperature T(start = 293.15, fixed = true) "Of the water";
  equation
    C*der(T) = P - G*(T - Tkitchen);
  end Pot;
  parameter Units.Temperature Thot = 363.15 "Reduce the power above";
  parameter Units.Temperature Tcool = 353.15 "Full power below";
  Pot pot;
  Blocks.Constant full(k = 2000) "HMAX";
  Blocks.Constant reduced(k = 200) "HR";
equation
  initialState(full);
  transition(full, reduced, pot.T >= Thot);
  transition(reduced, full, pot.T <= Tcool);
  connect(full.y, pot.P);
  connect(reduced.y, pot.P);
  annotation (experiment(StopTime = 1200, Tolerance = 1e-10), Documentation(info = "<html><p>Section 8.2 of the thesis, a change of a parameter (class 1): the parameters are models of their own, HMAX and HR, and the pot is linked to one of them.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = pot.T), Curve(y = pot.P)})})}));
end CookingPot;
