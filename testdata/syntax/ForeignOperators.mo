model ForeignOperators "Operators of other languages"
  Boolean a, b, c;
equation
  a = b && c;
//      ^^ error[E0105]: expected an operator of Modelica, found `&&`
//         hint: write `and` instead of `&&`
  b = a != c;
//      ^^ error[E0105]: expected an operator of Modelica, found `!=`
//         hint: write `<>` instead of `!=`
  c == true;
//  ^^ error[E0121]: expected `=` in an equation, found `==`
//     hint: `==` compares inside an expression; an equation is written with `=`
end ForeignOperators;
