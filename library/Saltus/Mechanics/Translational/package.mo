within Saltus.Mechanics;
package Translational "Motion along a line"
  extends Icons.Package;
  annotation (Documentation(info = "<html><p>Positions grow in one direction; a force on a flange is positive in that direction.</p></html>"));
end Translational;
