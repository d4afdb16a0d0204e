// A function whose local sizes follow from fields of a record argument, and a choice between arrays of different sizes that a final
// parameter decides.
package SizesByParameters
  record Data
    final parameter Integer n = size(v, 1);
    parameter Real v[:] = {1, 2, 3};
    parameter Boolean setHead = true annotation(Evaluate = true);
    parameter Real head[:] = {1, 2, 3};
    parameter Real dp[:] = {4, 5, 6};
  end Data;
  record Measured
    extends Data(v = {1, 2, 3, 4}, dp = {4, 5, 6, 7}, final setHead = false, final head = {0});
  end Measured;
  function peak
    input Data data;
    output Real y;
  protected
    Integer n = data.n;
    Real head[n] = if data.setHead then data.head else 2*data.dp;
    Real a[n, 2] = [ones(n), head];
  algorithm
    y := max(a[:, 2]) + sum(a[:, 1]);
  end peak;
  model Test
    parameter Measured data;
    final parameter Real y = peak(data);
    Real x = y*time;
  end Test;
end SizesByParameters;
// class: SizesByParameters.Test
// at t=1: x = 18 ± 1e-12 (closed form: 2*7 + 4)
