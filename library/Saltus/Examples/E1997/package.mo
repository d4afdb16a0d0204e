within Saltus.Examples;
package E1997 "State events in continuous modelling and simulation"
  extends Icons.Package;
end E1997;
