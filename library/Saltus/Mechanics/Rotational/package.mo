within Saltus.Mechanics;
package Rotational "Rotation about an axis"
  extends Icons.Package;
  annotation (Documentation(info = "<html><p>Angles grow in one direction; a torque on a flange is positive in that direction.</p></html>"));
end Rotational;
