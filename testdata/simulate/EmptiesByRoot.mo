// A tank whose outflow has no value below its threshold: h = (1 - t/2)² touches zero at t = 2 and stays there; from t = 3 on it is
// filled again, towards h = 0.25, where the root is 0.5. With s = sqrt(h): der(s) = 0.25/s - 0.5, so that t - 3 = -2 s - log(1 - 2 s).
model EmptiesByRoot
  Real h(start = 1, fixed = true);
equation
  der(h) = (if time > 3 then 0.5 else 0) - (if h > 0 then sqrt(h) else 0);
  annotation(experiment(StopTime = 6, Tolerance = 1e-8));
end EmptiesByRoot;
// at t=1: h = 0.25 ± 1e-7 (closed form)
// at t=2.5: h = 0 ± 1e-9 (closed form)
// at t=6: h = 0.24075674022515467 ± 1e-6 (closed form: root of the equation above)
