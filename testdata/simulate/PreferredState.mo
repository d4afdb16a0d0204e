// The pressure is the state although the mass is differentiated: the model says so (`stateSelect`), by a parameter.
model PreferredState
  parameter StateSelect wish = StateSelect.prefer;
  Real mass(start = 2, fixed = true);
  Real p(start = 1, stateSelect = wish);
equation
  der(mass) = -(3*p^2 + 1)*p;
  mass = p^3 + p;
  annotation (experiment(StopTime = 2));
end PreferredState;
// at t=2: p = 0.1353352832366127 ± 1e-6 (closed form: der(mass) = (3 p^2 + 1) der(p), so that p = exp(-t))
