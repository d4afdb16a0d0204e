// Two equations with one solution, far from the start values and behind minima of the residuals in which Newton's method
// ends from every start. The path of solutions of `r(y) - (1 - lambda)*r(0) = 0` leads to it.
model OnlyAlongThePath
  Real a(start = 0), b(start = 0), damping = exp(-0.1*a^2);
equation
  0.01*a^3 - 4*b + (4*sin(a) + 6*sin(2*a) + 7*tanh(b))*damping = -17;
  0.01*b^3 - 2*a + 7*atan(0.3*b)*damping + 4*sin(a) + 9*sin(0.3*b) = -33;
end OnlyAlongThePath;
// at t=1: a = -21.228367947 ± 1e-8 (undamped Newton iterations in Python from all points of a grid of 121 × 121 over ±30 that converge)
// at t=1: b = -19.666070687 ± 1e-8 (the same)
