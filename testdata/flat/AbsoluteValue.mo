model AbsoluteValue
  type Difference = Real(unit = "K") annotation(absoluteValue = false);
  type Step = Difference(min = 0);
  Real a(unit = "K") = 1 annotation(absoluteValue = false);
  Step b = 2;
  Step c = 3 annotation(absoluteValue = true);
  Difference d[2] = {4, 5};
end AbsoluteValue;
// flat:
// class AbsoluteValue
//   Real a(unit = "K") = 1.0 annotation(absoluteValue = false);
//   Real b(unit = "K", min = 0.0) = 2.0 annotation(absoluteValue = false);
//   Real c(unit = "K", min = 0.0) = 3.0;
//   Real[2] d(unit = "K") = {4.0, 5.0} annotation(absoluteValue = false);
// end AbsoluteValue;
