//! Messages about equations, statements and their blocks. Each test states the whole output: line and column in the text (from 1),
//! code, message, labels and hints.

mod common;

use common::check;

#[test]
fn missing_end_if() {
    check(
        r#"
model A
  Real x;
equation
  if time > 1 then
    x = 1;
end A;
"#,
        r#"
6:1 E0115 expected `end if`, found `end A`
  label 4:3 this `if` is not closed
  hint close it with `end if;`
"#,
    );
}

#[test]
fn missing_end_for_inside_if() {
    check(
        r#"
model A
equation
  if c then
    for i in 1:3 loop
      x[i] = 1;
  end if;
end A;
"#,
        r#"
6:3 E0115 expected `end for`, found `end if`
  label 4:5 this `for` is not closed
  hint close it with `end for;`
"#,
    );
}

#[test]
fn else_if_in_two_words() {
    check(
        r#"
model A
equation
  if a then
    x = 1;
  else if b then
    x = 2;
  end if;
end A;
"#,
        r#"
8:1 E0115 expected `end if`, found `end A`
  label 3:3 this `if` is not closed
  label 5:3 `else if` opens a second `if`
  hint write `elseif` in one word; then one `end if;` closes everything
"#,
    );
}

#[test]
fn wrong_block_end() {
    check(
        r#"
function f
algorithm
  while c loop
    x := 1;
  end for;
  y := 2;
end f;
"#,
        r#"
5:3 E0116 expected `end while`, found `end for`
  label 3:3 the `while` begins here
  hint write `end while;`
"#,
    );
}

#[test]
fn stray_end_if() {
    check(
        r#"
model A
equation
  x = 1;
  end if;
  y = 2;
end A;
"#,
        r#"
4:3 E0117 expected nothing to close here, found `end if`
  hint no `if` is open; remove this line or add the beginning
"#,
    );
}

#[test]
fn assignment_in_equation() {
    check(
        r#"
model A
equation
  x := 1;
end A;
"#,
        r#"
3:5 E0119 expected `=` in an equation, found `:=`
  hint equations use `=`; assignments with `:=` belong into an `algorithm` section
"#,
    );
}

#[test]
fn equality_in_algorithm() {
    check(
        r#"
function f
algorithm
  x = 1;
end f;
"#,
        r#"
3:5 E0120 expected `:=` in an algorithm, found `=`
  hint assignments use `:=`; equations with `=` belong into an `equation` section
"#,
    );
}

#[test]
fn comparison_as_equation() {
    check(
        r#"
model A
equation
  x == 1;
end A;
"#,
        r#"
3:5 E0121 expected `=` in an equation, found `==`
  hint `==` compares inside an expression; an equation is written with `=`
"#,
    );
}

#[test]
fn comparison_as_statement() {
    check(
        r#"
function f
algorithm
  x == 1;
end f;
"#,
        r#"
3:5 E0121 expected `:=` in an algorithm, found `==`
  hint `==` compares inside an expression; an assignment is written with `:=`
"#,
    );
}

#[test]
fn missing_then() {
    check(
        r#"
model A
equation
  if c
    x = 1;
  end if;
end A;
"#,
        r#"
3:7 E0122 expected `then`, found `x`
  label 3:3 belongs to this `if`
  hint write `if condition then`
"#,
    );
}

#[test]
fn missing_loop() {
    check(
        r#"
model A
equation
  for i in 1:3
    x[i] = 1;
  end for;
end A;
"#,
        r#"
3:15 E0123 expected `loop`, found `x`
  label 3:3 belongs to this `for`
  hint write `for i in 1:n loop`
"#,
    );
}

#[test]
fn missing_loop_of_while() {
    check(
        r#"
function f
algorithm
  while c
    x := 1;
  end while;
end f;
"#,
        r#"
3:10 E0123 expected `loop`, found `x`
  label 3:3 belongs to this `while`
  hint write `while condition loop`
"#,
    );
}

#[test]
fn elif() {
    check(
        r#"
model A
equation
  if a then
    x = 1;
  elif b then
    x = 2;
  end if;
end A;
"#,
        r#"
5:3 E0124 expected `elseif`, found `elif`
  hint write `elseif` instead of `elif`
"#,
    );
}

#[test]
fn endif() {
    check(
        r#"
model A
equation
  if a then
    x = 1;
  endif;
  y = 2;
end A;
"#,
        r#"
5:3 E0124 expected `end if`, found `endif`
  hint write `end if` in two words
"#,
    );
}

#[test]
fn element_after_equations() {
    check(
        r#"
model A
  Real x;
equation
  x = 1;
  parameter Real k = 2;
  Modelica.Units.SI.Mass m;
  y = 2;
end A;
"#,
        r#"
5:3 E0125 expected an equation or a statement, found a declaration beginning with `parameter`
  label 3:1 this section has begun here
  hint move the declaration above this section, or begin a new `public` or `protected` section before it
"#,
    );
}

#[test]
fn element_after_statements() {
    check(
        r#"
function f
algorithm
  x := 1;
  Real y;
end f;
"#,
        r#"
4:3 E0125 expected an equation or a statement, found a declaration beginning with `Real`
  label 2:1 this section has begun here
  hint move the declaration above this section, or begin a new `public` or `protected` section before it
"#,
    );
}

#[test]
fn equation_in_declarations() {
    check(
        r#"
model A
  Real x;
  x = 1;
  connect(a, b);
  Real y;
end A;
"#,
        r#"
3:3 E0148 expected a declaration, found an equation or a statement beginning with `x`
  hint write `equation` or `algorithm` on a line of its own before it
"#,
    );
}

#[test]
fn lone_expression_in_equations() {
    check(
        r#"
model A
equation
  x + 1;
end A;
"#,
        r#"
3:3 E0132 expected an equation, found an expression alone
  hint write `left = right;`, or call a function such as `assert(…);`
"#,
    );
}

#[test]
fn lone_expression_in_algorithm() {
    check(
        r#"
function f
algorithm
  x + 1;
end f;
"#,
        r#"
3:3 E0133 expected a statement, found an expression alone
  hint write `variable := expression;`, or call a function
"#,
    );
}

#[test]
fn assignment_to_expression() {
    check(
        r#"
function f
algorithm
  x + 1 := 2;
  (x, y + 1) := g();
end f;
"#,
        r#"
3:3 E0134 expected a variable on the left of `:=`, found an expression
  hint only variables such as `x`, `a.b[3]` or `(x, y)` can be assigned to
4:7 E0134 expected a variable on the left of `:=`, found an expression
  hint only variables such as `x`, `a.b[3]` or `(x, y)` can be assigned to
"#,
    );
}

#[test]
fn tuple_without_call() {
    check(
        r#"
function f
algorithm
  (x, y) := z;
end f;
"#,
        r#"
3:13 E0135 expected a function call on the right of `(…) :=`, found another expression
  label 3:3 several targets
  hint only a call gives several results; assign single values one by one
"#,
    );
}

#[test]
fn else_in_when() {
    check(
        r#"
model A
equation
  when c then
    x = 1;
  else
    x = 2;
  end when;
end A;
"#,
        r#"
5:3 E0142 expected `elsewhen` or `end when`, found `else`
  hint `when` has no `else`; what holds at all times stands outside of it
"#,
    );
}

#[test]
fn missing_connector() {
    check(
        r#"
model A
equation
  connect(a);
  connect(a, b;
end A;
"#,
        r#"
3:12 E0108 expected `,` and a second connector, found `)`
4:15 E0110 expected `)`, found `;`
  label 4:10 this `(` is not closed
  hint close it with `)`
"#,
    );
}
