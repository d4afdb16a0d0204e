// What an array type says about its attributes holds for each element of an array of that type (specification 7.2.5).
model AttributesOfArrayTypes
  type Three = Real[3](start = {1, 2, 3}, each fixed = true);
  Three x[2];
equation
  der(x) = zeros(2, 3);
end AttributesOfArrayTypes;
// at t=1: x[1,2] = 2 ± 1e-12 (closed form: the start value)
// at t=1: x[2,3] = 3 ± 1e-12 (closed form: the start value)
