// What follows from an error is not reported again: `x` has no equation only because of the misspelt name.
model UnknownNameOnly
  Real speed;
  Real x;
equation
  speed = 1;
  x = sped;
//    ^^^^ error[E0202]: `sped` is not declared in `UnknownNameOnly` or around it
//         hint: did you mean `speed`?
end UnknownNameOnly;
