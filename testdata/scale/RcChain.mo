// A chain of n resistor-capacitor cells behind a constant source: every equation is solved for one variable, the number
// of states grows with n. `cargo xtask scale` measures how the cost of compiling it grows.
package RcChain
  connector Pin
    Real v(unit = "V");
    flow Real i(unit = "A");
  end Pin;

  partial model OnePort
    Pin p;
    Pin n;
    Real v(unit = "V");
    Real i(unit = "A");
  equation
    v = p.v - n.v;
    0 = p.i + n.i;
    i = p.i;
  end OnePort;

  model Resistor
    extends OnePort;
    parameter Real R(unit = "Ohm") = 1;
  equation
    R * i = v;
  end Resistor;

  model Capacitor
    extends OnePort;
    parameter Real C(unit = "F") = 1;
  equation
    i = C * der(v);
  end Capacitor;

  model Source
    extends OnePort;
    parameter Real V(unit = "V") = 1;
  equation
    v = V;
  end Source;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Chain
    parameter Integer n = 10;
    Source source;
    Ground ground;
    Resistor r[n](each R = 0.5);
    Capacitor c[n](each C = 0.01);
  equation
    connect(source.n, ground.p);
    connect(source.p, r[1].p);
    for k in 1:n loop
      connect(r[k].n, c[k].p);
      connect(c[k].n, ground.p);
    end for;
    for k in 1:n - 1 loop
      connect(r[k].n, r[k + 1].p);
    end for;
  end Chain;
end RcChain;
