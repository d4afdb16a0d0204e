// A pendulum that is taut on a circle, slack in free flight, and taut again, as a state machine with 2, 4 and 2 states. It leaves the
// circle where its pull is zero: w² = 36 - 2 g (1 - cos φ) and w² = -g cos φ give cos φ = (2 g - 36)/(3 g), φ1 = 2.161053768847. The flight is a parabola that meets the circle after
// 4 w1 sin φ1/g = 0.791557457601 at φ = -0.199975999362; the angular speed that is left there is -0.117720815560. The energy on the
// circle is then constant.
model LoopingPendulum
  model Circle
    parameter Real l = 1;
    parameter Real g = 9.81;
    Real phi(start = 0, fixed = true), w(start = 6, fixed = true);
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
  parameter Real l = 1;
  Circle circle(l = l);
  Flight flight;
  Real energy = if activeState(circle) then circle.w^2/2 - 9.81*cos(circle.phi)
    else (flight.vx^2 + flight.vy^2)/2 + 9.81*flight.y;
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
  annotation(experiment(StopTime = 2, Tolerance = 1e-10));
end LoopingPendulum;
// at t=0.4: energy = 8.19 ± 1e-8 (closed form: 18 - g)
// at t=1: energy = 8.19 ± 1e-8 (closed form)
// at t=2: energy = -9.607570806595897 ± 1e-8 (closed form: w²/2 - g cos φ where it returns)
