// The numbers of an assertion's message are computed only if it fails: `search` is not defined before t=1, where nothing
// asks for the message either.
model MessageNumbers
  function search
    input Real x;
    output Real y;
  protected
    Real before;
  algorithm
    assert(x >= 0, "no root of a negative number");
    y := x + 1;
    before := 0;
    while abs(y - before) > 1e-14 * y loop
      before := y;
      y := 0.5 * (y + x / y);
    end while;
  end search;
  function rootFrom
    input Boolean on;
    input Real x;
    output Real y;
  protected
    Real r;
  algorithm
    if on then
      r := search(x);
      assert(r < 100, "the root " + String(r) + " is too large");
      y := r;
    else
      y := 0;
    end if;
  end rootFrom;
  Real y = rootFrom(time > 1, time - 1);
  annotation (experiment(StopTime = 5));
end MessageNumbers;
// at t=0.5: y = 0 ± 0 (before the root is wanted)
// at t=5: y = 2 ± 1e-12 (closed form: the root of t - 1)
