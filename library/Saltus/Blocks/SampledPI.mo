within Saltus.Blocks;
block SampledPI "Proportional and integral controller that computes at sample instants and stays within limits"
  parameter Units.Time period(min = 1e-12, start = 0.1) "Time between two instants";
  parameter Real k = 1 "Gain";
  parameter Units.Time Ti(start = 1) "Integration time";
  parameter Real high = 1e30 "Upper limit of the output";
  parameter Real low = -high "Lower limit of the output";
  extends SISO(y(start = 0, fixed = true));
  discrete Real sum(start = 0, fixed = true) "Integral of the input";
protected
  discrete Real wanted(start = 0, fixed = true) "Output without limits";
equation
  when sample(0, period) then
    wanted = k*(u + (pre(sum) + period*u)/Ti);
    y = min(high, max(low, wanted));
    // At a limit the integral stays where it is.
    sum = if wanted > high and u > 0 or wanted < low and u < 0 then pre(sum) else pre(sum) + period*u;
  end when;
  annotation (Icon(graphics = {Text(extent = {{-80, 40}, {80, -40}}, textString = "PI")}));
end SampledPI;
