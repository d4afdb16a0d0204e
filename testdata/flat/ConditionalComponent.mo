// A component whose condition is false is gone, with the connections to it (section 4.4.5).
connector Signal = Real;

model ConditionalComponent
  parameter Boolean has = false;
protected
  Signal a;
  Signal b if has;
equation
  a = 1;
  connect(a, b);
end ConditionalComponent;
// balance: 1 equations, 1 unknowns
