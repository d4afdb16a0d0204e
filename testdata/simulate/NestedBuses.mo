// A bus in a bus between two components, an array of the bus that has the elements that are connected, and a physical connector on it.
connector In = input Real;
connector Out = output Real;
connector Pin
  Real v;
  flow Real i;
end Pin;
expandable connector SubBus
end SubBus;
expandable connector Bus
  SubBus sub;
  Real w[:];
end Bus;
block Source
  parameter Real k = 1;
  Out y = k * time;
end Source;
block Sink
  In u;
  Real x = 2 * u;
end Sink;
model Battery
  Pin p;
equation
  p.v = 12;
end Battery;
model Load
  Pin p;
equation
  p.v = 3 * p.i;
end Load;
model Sender
  Bus bus;
  SubBus own;
  Source a(k = 1);
  Source b(k = 5);
  Battery battery;
equation
  connect(a.y, own.speed);
  connect(own, bus.sub);
  connect(b.y, bus.w[3]);
  connect(battery.p, bus.sub.plus);
end Sender;
model Receiver
  Bus bus;
  Sink a;
  Sink b;
  Load load;
equation
  connect(bus.sub.plus, load.p);
  connect(bus.sub.speed, a.u);
  connect(bus.w[3], b.u);
end Receiver;
model NestedBuses
  Sender s;
  Receiver r;
  Bus bus;
equation
  connect(s.bus, bus);
  connect(bus, r.bus);
end NestedBuses;
// at t=1: r.a.x = 2 ± 1e-12 (closed form: 2 t)
// at t=1: r.b.x = 10 ± 1e-12 (closed form: 2 * 5 t)
// at t=1: r.load.p.i = 4 ± 1e-12 (closed form: 12 / 3)
// at t=1: s.battery.p.i = -4 ± 1e-12 (conserved: the currents sum up to 0)
// at t=1: bus.w[1] = 0 ± 1e-12 (the default of its type, specification 9.1.3)
