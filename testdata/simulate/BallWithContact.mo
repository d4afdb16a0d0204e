// A ball of 0.1 kg and radius 0.05 whose contact with the floor is resolved: k = 1000 N/m, c = 0.2 N.s/m. It falls from 1 for
// sqrt(1.9/9.81) = 0.440090807051 s. The contact is a damped oscillation around -m g/k with ω = sqrt(k/m - (c/2m)²): it lasts 0.031879336411 s
// and returns 0.968159665679 of the speed.
model BallWithContact
  model Flight
    Real h(start = 1, fixed = true), v(start = 0, fixed = true);
  equation
    der(h) = v;
    der(v) = -9.81;
  end Flight;
  model Contact
    Real h(start = 0), v(start = 0);
  equation
    der(h) = v;
    0.1*der(v) = -0.1*9.81 + 1000*(0.05 - h) - 0.2*v;
  end Contact;
  Flight flight;
  Contact contact;
  Real v = if activeState(flight) then flight.v else contact.v;
equation
  initialState(flight);
  transition(flight, contact, flight.h <= 0.05);
  transition(contact, flight, contact.h >= 0.05);
  when activeState(contact) then
    reinit(contact.h, pre(flight.h));
    reinit(contact.v, pre(flight.v));
  end when;
  when activeState(flight) then
    reinit(flight.h, pre(contact.h));
    reinit(flight.v, pre(contact.v));
  end when;
  annotation(experiment(StopTime = 0.5, Tolerance = 1e-11));
end BallWithContact;
// at t=0.44: v = -4.3164 ± 1e-9 (closed form: -9.81*0.44)
// at t=0.5: v = 3.904853941547582 ± 1e-7 (closed form)
