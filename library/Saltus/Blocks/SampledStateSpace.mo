within Saltus.Blocks;
block SampledStateSpace "Linear controller that computes at sample instants"
  parameter Units.Time period(min = 1e-12, start = 0.1) "Time between two instants";
  parameter Real A[:, size(A, 1)](each start = 0) "State to state";
  parameter Real B[size(A, 1), 1] "Input to state";
  parameter Real C[1, size(A, 1)] "State to output";
  parameter Real D = 0 "Input to output";
  extends SISO(y(start = 0, fixed = true));
  discrete Real x[size(A, 1)](each start = 0, each fixed = true) "State";
equation
  when sample(0, period) then
    x = A*pre(x) + B[:, 1]*u;
    y = C[1, :]*pre(x) + D*u;
  end when;
  annotation (Icon(graphics = {Text(extent = {{-80, 50}, {80, -50}}, textString = "A B\\nC D")}));
end SampledStateSpace;
