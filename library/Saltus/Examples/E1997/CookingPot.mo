within Saltus.Examples.E1997;
model CookingPot "Full power until it is hot, then just enough"
  extends Icons.Example;
  parameter Units.Power Pmax = 2000 "Full power";
  parameter Units.Power Plow = 200 "Reduced power";
  parameter Units.HeatCapacity C = 8400 "Of two litres of water";
  parameter Units.ThermalConductance G = 8 "To the kitchen";
  parameter Units.Temperature Tkitchen = 293.15 "Of the kitchen";
  parameter Units.Temperature Thot = 363.15 "Reduce the power above";
  parameter Units.Temperature Tcool = 353.15 "Full power below";
  Units.Temperature T(start = 293.15, fixed = true) "Of the water";
  Boolean reduced(start = false, fixed = true) "Power is reduced";
  Units.Power P = if reduced then Plow else Pmax "Power";
equation
  C*der(T) = P - G*(T - Tkitchen);
  reduced = T >= Thot or pre(reduced) and T > Tcool;
  annotation (experiment(StopTime = 1200), Documentation(info = "<html><p>A parameter changes when a state passes a threshold. The pot is heated with full power until 90 °C. Then the power is reduced until it has cooled to 80 °C, and so on.</p></html>",
    figures = {Figure(plots = {Plot(curves = {Curve(y = T), Curve(y = P)})})}));
end CookingPot;
