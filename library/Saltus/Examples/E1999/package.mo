within Saltus.Examples;
package E1999 "Modeling of mixed continuous/discrete systems in Modelica"
  extends Icons.Package;
end E1999;
