// A grid of n × n nodes with resistors along its rows and diodes down its columns, fed by a sine at one corner and
// grounded at the other: one loop of all nodes in which every diode has a relation. `cargo xtask scale` measures how the
// cost of compiling it grows.
package DiodeGrid
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

  model Diode
    extends OnePort;
    parameter Real Ron(unit = "Ohm") = 0.01;
    parameter Real Goff(unit = "S") = 0.01;
    Boolean off;
    Real s;
  equation
    off = s < 0;
    v = if off then s else Ron * s;
    i = if off then Goff * s else s;
  end Diode;

  model SineSource
    extends OnePort;
    parameter Real V(unit = "V") = 1;
    parameter Real f(unit = "Hz") = 1;
  equation
    v = V * sin(6.283185307179586 * f * time);
  end SineSource;

  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;

  model Grid
    parameter Integer n = 4;
    SineSource source;
    Ground ground;
    Resistor r[n, n - 1];
    Diode d[n - 1, n];
  equation
    connect(source.n, ground.p);
    connect(source.p, r[1, 1].p);
    connect(r[n, n - 1].n, ground.p);
    for i in 1:n loop
      for j in 1:n - 2 loop
        connect(r[i, j].n, r[i, j + 1].p);
      end for;
    end for;
    for i in 1:n - 1 loop
      for j in 1:n - 1 loop
        connect(d[i, j].p, r[i, j].p);
        connect(d[i, j].n, r[i + 1, j].p);
      end for;
      connect(d[i, n].p, r[i, n - 1].n);
      connect(d[i, n].n, r[i + 1, n - 1].n);
    end for;
  end Grid;
end DiodeGrid;
