within Saltus.Blocks;
block Backlash "Follows its input with play, as gears do"
  parameter Real b(min = 0, start = 1) "Play";
  parameter Real y0 = 0 "Output at the start, within half the play of the input";
  extends SISO;
  Boolean pushing(start = false, fixed = true) "The input carries the output upwards";
  Boolean pulling(start = false, fixed = true) "The input carries the output downwards";
  Boolean free "The input moves inside the play";
protected
  Real du = der(u);
  discrete Real held(start = y0, fixed = true) "Where the output stays";
equation
  pushing = if pre(pushing) then not du < 0 else u - pre(held) > b/2;
  pulling = if pre(pulling) then not du > 0 else u - pre(held) < -b/2;
  free = not (pushing or pulling);
  when free then
    held = if pre(pushing) then u - b/2 else if pre(pulling) then u + b/2 else pre(held);
  end when;
  y = if pushing then u - b/2 else if pulling then u + b/2 else held;
  annotation (Icon(graphics = {Polygon(points = {{-80, -60}, {0, -60}, {80, 60}, {0, 60}, {-80, -60}}, lineColor = {0, 90, 160})}),
    Documentation(info = "<html><p>The input is differentiated: it must not jump.</p></html>"));
end Backlash;
