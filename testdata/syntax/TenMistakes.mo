// A file with ten mistakes gives ten messages, each at its place.
model TenMistakes
  Real a
//      ^ error[E0109]: expected `;`, found `Real`
//        hint: end this line with `;`
  Real b = 1 +;
//            ^ error[E0108]: expected an expression, found `;`
  Real c(start = 1;
//                ^ error[E0110]: expected `)`, found `;`
//                  hint: close it with `)`
  parameter Real d = 1 == = 2;
//                        ^ error[E0108]: expected an expression, found `=`
  Real end;
//     ^^^ error[E0118]: expected an identifier, found the keyword `end`
//         hint: choose another name such as `end_`; keywords cannot be names
equation
  a := 1;
//  ^^ error[E0119]: expected `=` in an equation, found `:=`
//     hint: equations use `=`; assignments with `:=` belong into an `algorithm` section
  if a > 0 then
    b = 1;
  else if a < 0 then
    b = 2;
  end if;
  c = a < b < d;
//          ^ error[E0127]: expected one comparison, found a second one behind it
//            hint: write `a < b and b < c` instead of `a < b < c`
algorithm
// 1-9 error[E0115]: expected `end if`, found `algorithm`
// hint: write `elseif` in one word; then one `end if;` closes everything
  e = 1;
//  ^ error[E0120]: expected `:=` in an algorithm, found `=`
//    hint: assignments use `:=`; equations with `=` belong into an `equation` section
end TenMistake;
//  ^^^^^^^^^^ error[E0113]: expected `end TenMistakes`, found `end TenMistake`
//             hint: write `end TenMistakes;`
