//! Messages about expressions and lists. Each test states the whole output: line and column in the text (from 1),
//! code, message, labels and hints.

mod common;

use common::check;

#[test]
fn no_expression() {
    check(
        r#"
model A
  Real x = ;
  Real y;
end A;
"#,
        r#"
2:12 E0108 expected an expression, found `;`
"#,
    );
}

#[test]
fn keyword_in_expression() {
    check(
        r#"
model A
  Real x = 2*flow;
end A;
"#,
        r#"
2:14 E0118 expected an identifier, found the keyword `flow`
  hint choose another name such as `flow_`; keywords cannot be names
"#,
    );
}

#[test]
fn missing_then_in_expression() {
    check(
        r#"
model A
  Real x = if c 1 else 2;
end A;
"#,
        r#"
2:17 E0122 expected `then`, found `1`
  label 2:12 belongs to this `if`
  hint write `if condition then`
"#,
    );
}

#[test]
fn chained_power() {
    check(
        r#"
model A
  Real x = a^b^c;
end A;
"#,
        r#"
2:15 E0126 expected one power, found a second one behind it
  label 2:13 the first power
  hint `a^b^c` has no meaning in Modelica; write `(a^b)^c` or `a^(b^c)`
"#,
    );
}

#[test]
fn chained_comparison() {
    check(
        r#"
model A
  Boolean x = 0 < a < 1;
end A;
"#,
        r#"
2:21 E0127 expected one comparison, found a second one behind it
  label 2:17 the first comparison
  hint write `a < b and b < c` instead of `a < b < c`
"#,
    );
}

#[test]
fn sign_behind_operator() {
    check(
        r#"
model A
  Real x = a*-b;
  Real y = a^-1;
  Real z = a + -b;
end A;
"#,
        r#"
2:14 E0128 expected an operand, found the sign `-`
  hint a sign behind another operator needs parentheses: `(-x)`
3:14 E0128 expected an operand, found the sign `-`
  hint a sign behind another operator needs parentheses: `(-x)`
4:16 E0128 expected an operand, found the sign `-`
  hint a sign behind another operator needs parentheses: `(-x)`
"#,
    );
}

#[test]
fn not_as_operand() {
    check(
        r#"
model A
  Boolean x = a == not b;
end A;
"#,
        r#"
2:20 E0129 expected an operand, found `not`
  hint put the whole `not …` in parentheses
"#,
    );
}

#[test]
fn if_as_operand() {
    check(
        r#"
model A
  Real x = 1 + if c then 2 else 3;
end A;
"#,
        r#"
2:16 E0129 expected an operand, found `if`
  hint put the whole `if …` in parentheses
"#,
    );
}

#[test]
fn missing_else() {
    check(
        r#"
model A
  Real x = if c then 1;
end A;
"#,
        r#"
2:23 E0138 expected `else`, found `;`
  label 2:12 this `if` has no `else`
  hint an `if` expression needs a value for every case: `if c then a else b`
"#,
    );
}

#[test]
fn positional_after_named() {
    check(
        r#"
model A
  Real x = f(a=1, 2);
end A;
"#,
        r#"
2:19 E0139 expected a named argument `name = value`, found a positional one
  hint positional arguments come before the named ones
"#,
    );
}

#[test]
fn end_outside_subscripts() {
    check(
        r#"
model A
  Real x = y + end;
end A;
"#,
        r#"
2:16 E0145 expected an expression, found `end`
  hint `end` has a value inside array subscripts only: `x[end]`
"#,
    );
}

#[test]
fn empty_array() {
    check(
        r#"
model A
  Real x[0] = {};
  Real y = x[];
end A;
"#,
        r#"
2:16 E0147 expected an array entry, found `}`
  hint an array of size zero is written `fill(0.0, 0)`
3:14 E0147 expected a subscript, found `]`
  hint write `:` for a dimension whose size follows from the value, as in `x[:]`
"#,
    );
}

#[test]
fn trailing_comma() {
    check(
        r#"
model A
  Real x[2] = {1, 2,};
  Real y = f(1,);
end A;
"#,
        r#"
2:21 E0149 expected another entry behind `,`, found `}`
  hint remove the `,`
3:16 E0149 expected another entry behind `,`, found `)`
  hint remove the `,`
"#,
    );
}

#[test]
fn missing_comma() {
    check(
        r#"
model A
  Real x[3] = {1, 2 3};
  Real y(start=1
    fixed=true);
end A;
"#,
        r#"
2:20 E0151 expected `,` or `}`, found `3`
  hint separate entries with `,`
3:17 E0151 expected `,` or `)`, found `fixed`
  hint separate entries with `,`
"#,
    );
}

#[test]
fn unfinished_reference() {
    check(
        r#"
model A
  Real x = a.;
  Real y;
end A;
"#,
        r#"
2:14 E0108 expected an identifier behind `.`, found `;`
"#,
    );
}
