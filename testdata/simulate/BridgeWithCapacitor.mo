// A bridge of ideal diodes between a stiff source and a capacitor with a load: it follows the source up to 100t = π/2 + atan(0.1), where the
// current ends, discharges with RC = 0.1 s, and meets the other half wave. What the diodes leak is below 1e-7.
model BridgeWithCapacitor
  connector Pin
    Real v;
    flow Real i;
  end Pin;
  model Diode
    parameter Real G = 1e-9 "Leakage: it says where a bridge that blocks floats";
    Pin p, n;
    Real s(start = 0);
    Boolean off(start = true) = s < 0;
  equation
    p.v - n.v = if off then s else 0;
    p.i = if off then G*s else s;
    0 = p.i + n.i;
  end Diode;
  model Load "Capacitor with a resistor across"
    Pin p, n;
    Real v(start = 0, fixed = true) = p.v - n.v;
  equation
    p.i = 1e-3*der(v) + v/100;
    0 = p.i + n.i;
  end Load;
  model Source
    Pin p, n;
  equation
    p.v - n.v = 10*sin(100*time);
    0 = p.i + n.i;
  end Source;
  model Ground
    Pin p;
  equation
    p.v = 0;
  end Ground;
  Diode d1, d2, d3, d4;
  Load load;
  Source source;
  Ground ground;
equation
  connect(source.p, d1.p);
  connect(source.p, d2.n);
  connect(source.n, d3.p);
  connect(source.n, d4.n);
  connect(d1.n, load.p);
  connect(d3.n, load.p);
  connect(d2.p, load.n);
  connect(d4.p, load.n);
  connect(ground.p, load.n);
  annotation(experiment(StopTime = 0.06, Tolerance = 1e-9));
end BridgeWithCapacitor;
// at t=0.01: load.v = 8.414709848078965 ± 1e-6 (closed form: 10 sin 1)
// at t=0.025: load.v = 9.158262025678162 ± 1e-6 (closed form)
// at t=0.0455: load.v = 9.868438585032365 ± 1e-6 (closed form: -10 sin 4.55)
// at t=0.06: load.v = 8.83583569873342 ± 1e-6 (closed form)
