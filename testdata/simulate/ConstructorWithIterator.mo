// A record constructor whose defaults are written with an iterator, and others that depend on their size.
model ConstructorWithIterator
  record Field
    parameter Real rate;
    parameter Real total = rate*n;
    parameter Real at[:, 2];
    parameter Integer n = size(at, 1);
  end Field;
  record Row
    extends Field(rate = 0.5, at = {{3.0*i, 2.0*i} for i in 1:4});
  end Row;
  record Data
    extends Base(field = Row());
  end Data;
  record Base
    parameter Field field;
  end Base;
  parameter Data data;
  Real x = data.field.total + time*data.field.at[3, 1];
  annotation (experiment(StopTime = 1));
end ConstructorWithIterator;
// at t=1: x = 11 ± 1e-12 (by hand: 0.5*4 + 3.0*3)
