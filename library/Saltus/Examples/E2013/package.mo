within Saltus.Examples;
package E2013 "Simulation of discontinuous systems"
  extends Icons.Package;
end E2013;
