// A record and a field of all elements of an array of records, assigned as a whole.
model RecordAssigned
  record R
    Real x;
  end R;
  R r, q[2];
algorithm
  r := R(time);
  q.x := {1, 2};
end RecordAssigned;
// balance: 3 equations, 3 unknowns
