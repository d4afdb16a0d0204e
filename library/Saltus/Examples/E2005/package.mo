within Saltus.Examples;
package E2005 "Event handling in the OpenModelica compiler and runtime system"
  extends Icons.Package;
end E2005;
