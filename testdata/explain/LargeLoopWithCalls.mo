model LargeLoopWithCalls "A loop of 500 equations that calls a function without a derivative"
  function half "Halves until the square is not above"
    input Real x;
    output Real y;
  algorithm
    y := x;
    while y*y > x + 1 loop
      y := y/2;
    end while;
  end half;
  parameter Integer n = 250;
  Real x[n](each start = 1), y[n];
equation
  for i in 1:n loop
    y[i] = half(x[i]);
    x[i] = i + time + (if i > 1 then 0.001*y[i - 1] else 0.001*y[n]);
  end for;
end LargeLoopWithCalls;
