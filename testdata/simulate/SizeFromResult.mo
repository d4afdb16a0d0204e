// Sizes `:` of fields come from the declaration of a function's result, from the branch that is taken, or from a value that
// can be known (specification 10.1). The result has the class of the record whose size is sought.
package SizeFromResult
  record Curve
    parameter Real x[:];
    parameter Real y[size(x, 1)];
  end Curve;
  function line
    input Real slope;
    output Curve curve(x = {0, 1, 2}, y = zeros(n));
  protected
    constant Integer n = 3;
  algorithm
    for k in 1:n loop
      curve.y[k] := slope*curve.x[k];
    end for;
  end line;
  record Data
    parameter Real slope = 2;
    parameter Boolean short = true;
    final parameter Curve whole = line(slope);
    final parameter Curve part = if short then Curve(x = {1}, y = {slope}) else line(slope);
  end Data;
  model M
    Data data(slope = 3);
    Data long(short = false);
    Real a = data.whole.y[3] + size(data.part.y, 1);
    Real b = sum(long.part.y) + size(long.part.x, 1);
  end M;
end SizeFromResult;
// class: SizeFromResult.M
// at t=0: a = 7 ± 0 (3*2 and one element)
// at t=0: b = 9 ± 0 (2*(0 + 1 + 2) and three elements)
