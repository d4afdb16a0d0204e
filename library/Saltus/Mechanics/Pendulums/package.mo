within Saltus.Mechanics;
package Pendulums "A mass on a rod or a string"
  extends Icons.Package;
  annotation (Documentation(info = "<html><p>Angles are measured from the position of rest.</p></html>"));
end Pendulums;
