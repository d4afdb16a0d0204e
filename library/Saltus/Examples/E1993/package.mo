within Saltus.Examples;
package E1993 "Object-oriented modeling of hybrid systems"
  extends Icons.Package;
end E1993;
