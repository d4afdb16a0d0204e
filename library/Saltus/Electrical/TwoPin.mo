within Saltus.Electrical;
partial model TwoPin "An element with two terminals through which the same current flows"
  Pin p "Where a positive current enters" annotation (Placement(transformation(extent = {{-110, -10}, {-90, 10}})));
  Pin n "Where it leaves" annotation (Placement(transformation(extent = {{90, -10}, {110, 10}})));
  Units.Voltage u "Voltage from p to n";
  Units.Current i "Current from p to n";
  extends Icons.TwoPole;
equation
  u = p.v - n.v;
  i = p.i;
  p.i + n.i = 0;
end TwoPin;
