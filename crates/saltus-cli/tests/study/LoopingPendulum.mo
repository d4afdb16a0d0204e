model LoopingPendulum "Taut on a circle, slack in free flight, taut again"
  model Circle
    parameter Real l = 1, g = 9.81, w0 = 6;
    Real phi(start = 0, fixed = true), w(start = w0, fixed = true);
    Real x = l*sin(phi), y = -l*cos(phi), vx = l*w*cos(phi), vy = l*w*sin(phi);
    Real pull = l*w^2 + g*cos(phi);
  equation
    der(phi) = w;
    der(w) = -g/l*sin(phi);
  end Circle;
  model Flight
    parameter Real g = 9.81;
    Real x(start = 0), y(start = 0), vx(start = 0), vy(start = 0);
  equation
    der(x) = vx;
    der(y) = vy;
    der(vx) = 0;
    der(vy) = -g;
  end Flight;
  parameter Real l = 1, w0 = 6, g = 9.81;
  Circle circle(l = l, w0 = w0, g = g);
  Flight flight(g = g);
equation
  initialState(circle);
  transition(circle, flight, circle.pull < 0);
  transition(flight, circle, flight.x^2 + flight.y^2 >= l^2 and flight.x*flight.vx + flight.y*flight.vy > 0);
  when activeState(flight) then
    reinit(flight.x, pre(circle.x));
    reinit(flight.y, pre(circle.y));
    reinit(flight.vx, pre(circle.vx));
    reinit(flight.vy, pre(circle.vy));
  end when;
  when activeState(circle) then
    reinit(circle.phi, atan2(pre(flight.x), -pre(flight.y)));
    reinit(circle.w, (pre(flight.x)*pre(flight.vy) - pre(flight.y)*pre(flight.vx))/l^2);
  end when;
  annotation(experiment(StopTime = 2));
end LoopingPendulum;
