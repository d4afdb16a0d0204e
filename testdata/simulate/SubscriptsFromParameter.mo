// A vector of subscripts that a parameter computes.
model SubscriptsFromParameter
  function chosen
    input Boolean mask[:];
    output Integer index[sum({if m then 1 else 0 for m in mask})];
  protected
    Integer n;
  algorithm
    n := 0;
    for i in 1:size(mask, 1) loop
      if mask[i] then
        n := n + 1;
        index[n] := i;
      end if;
    end for;
  end chosen;
  parameter Boolean mask[3] = {true, false, true};
  parameter Integer index[2] = chosen(mask);
  Real u[3] = {time, 2*time, 3*time};
  Real y[2] = u[index];
end SubscriptsFromParameter;
// at t=1: y[1] = 1 ± 1e-12 (the first element, time)
// at t=1: y[2] = 3 ± 1e-12 (the third element, 3*time)
