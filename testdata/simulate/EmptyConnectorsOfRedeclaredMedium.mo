// Members of an array of no components have the types that its modifications give them.
package EmptyConnectorsOfRedeclaredMedium
  partial package PartialMedium
    replaceable partial record State
    end State;
  end PartialMedium;
  package Air
    extends PartialMedium;
    redeclare record State
      Real p;
      Real T;
    end State;
  end Air;
  connector Port
    replaceable package Medium = PartialMedium;
    Real r;
    flow Real m;
    output Medium.State state;
  end Port;
  model Tank
    parameter Integer n = 0;
    replaceable package Medium = PartialMedium;
    Port port[n](redeclare package Medium = Medium);
    Medium.State state[n];
    Medium.State own;
  equation
    own.p = 1 + time;
    own.T = 300;
    port.state = state;
    for i in 1:n loop
      state[i] = own;
      port[i].r = 0;
    end for;
  end Tank;
  model Test
    Tank tank(redeclare package Medium = Air);
  end Test;
end EmptyConnectorsOfRedeclaredMedium;
// class: EmptyConnectorsOfRedeclaredMedium.Test
// at t=1: tank.own.p = 2 ± 1e-12 (closed form)
