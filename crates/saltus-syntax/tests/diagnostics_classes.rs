//! Messages about files, classes and declarations. Each test states the whole output: line and column in the text (from 1),
//! code, message, labels and hints.

mod common;

use common::check;

#[test]
fn missing_semicolon() {
    check(
        r#"
model A
  Real x
  Real y;
equation
  x = 1
  y = 2
end A;
"#,
        r#"
2:9 E0109 expected `;`, found `Real`
  hint end this line with `;`
5:8 E0109 expected `;`, found `y`
  hint end this line with `;`
6:8 E0109 expected `;`, found `end`
  hint end this line with `;`
"#,
    );
}

#[test]
fn missing_semicolon_behind_end() {
    check(
        r#"
model A
  Real x;
end A
"#,
        r#"
3:6 E0109 expected `;`, found the end of the file
  hint end this line with `;`
"#,
    );
}

#[test]
fn unclosed_parenthesis() {
    check(
        r#"
model A
  Real x(start=1;
  Real y(start=2
  Real z;
end A;
"#,
        r#"
2:17 E0110 expected `)`, found `;`
  label 2:9 this `(` is not closed
  hint close it with `)`
3:17 E0110 expected `)`, found `Real`
  label 3:9 this `(` is not closed
  hint close it with `)`
"#,
    );
}

#[test]
fn unclosed_brace() {
    check(
        r#"
model A
  Real x[2] = {1, 2;
end A;
"#,
        r#"
2:20 E0110 expected `}`, found `;`
  label 2:15 this `{` is not closed
  hint close it with `}`
"#,
    );
}

#[test]
fn stray_closing_bracket() {
    check(
        r#"
model A
  Real x = 1);
  Real y;
end A;
"#,
        r#"
2:13 E0111 expected `;`, found `)`
  hint no bracket is open here; remove the `)`
"#,
    );
}

#[test]
fn wrong_closing_bracket() {
    check(
        r#"
model A
  Real x[2] = {1, 2];
  Real y;
end A;
"#,
        r#"
2:20 E0112 expected `}`, found `]`
  label 2:15 `{` is opened here
  hint write `}` instead of `]`
"#,
    );
}

#[test]
fn wrong_end_name() {
    check(
        r#"
model Tank
  Real x;
end Tnak;
"#,
        r#"
3:5 E0113 expected `end Tank`, found `end Tnak`
  label 1:1 `Tank` begins here
  hint write `end Tank;`
"#,
    );
}

#[test]
fn missing_end_name() {
    check(
        r#"
model Tank
  Real x;
end;
"#,
        r#"
3:1 E0113 expected `end Tank`, found `end` without a name
  label 1:1 `Tank` begins here
  hint write `end Tank;`
"#,
    );
}

#[test]
fn missing_inner_end() {
    check(
        r#"
package P
  model A
    Real x;
  model B
  end B;
end P;
"#,
        r#"
6:1 E0114 expected `end A`, found `end P`
  label 2:3 `A` begins here
  hint close the class with `end A;`
"#,
    );
}

#[test]
fn missing_last_end() {
    check(
        r#"
package P
  model A
  end A;

"#,
        r#"
3:9 E0114 expected `end P`, found the end of the file
  label 1:1 `P` begins here
  hint close the class with `end P;`
"#,
    );
}

#[test]
fn stray_end() {
    check(
        r#"
model A
end A;
end A;
"#,
        r#"
3:1 E0117 expected nothing to close here, found `end A`
  hint no `A` is open; remove this line or add the beginning
"#,
    );
}

#[test]
fn keyword_as_component() {
    check(
        r#"
model A
  Real output;
  Real x;
end A;
"#,
        r#"
2:8 E0118 expected an identifier, found the keyword `output`
  hint choose another name such as `output_`; keywords cannot be names
"#,
    );
}

#[test]
fn comparison_as_binding() {
    check(
        r#"
model A
  Real x == 1;
end A;
"#,
        r#"
2:10 E0121 expected `=`, found `==`
  hint `==` compares; a value is given with `=`
"#,
    );
}

#[test]
fn annotation_not_last() {
    check(
        r#"
model A
  annotation (Icon());
  Real x;
end A;
"#,
        r#"
2:3 W0136 expected the end of the class behind its annotation, found more
  hint the annotation of a class is its last part; move it to just before `end`
"#,
    );
}

#[test]
fn declaration_in_file() {
    check(
        r#"
Real x;
model A
end A;
"#,
        r#"
1:1 E0137 expected a class such as `model A`, found `Real`
  hint a file contains classes only; put declarations and equations between `model A` and `end A;`
"#,
    );
}

#[test]
fn capital_class_word() {
    check(
        r#"
Model A
end A;
model B
end B;
"#,
        r#"
1:1 E0137 expected a class such as `model A`, found `Model`
  hint did you mean `model`?
"#,
    );
}

#[test]
fn late_within() {
    check(
        r#"
model A
end A;
within B;
"#,
        r#"
3:1 E0140 expected `within` at the beginning of the file, found it behind a class
  hint move `within …;` to the first line
"#,
    );
}

#[test]
fn adjacent_strings() {
    check(
        r#"
model A "one" "two"
end A;
"#,
        r#"
1:15 E0141 expected `+` between two strings, found none
  hint join strings with `+`: "a" + "b"
"#,
    );
}

#[test]
fn prefix_order() {
    check(
        r#"
model A
  parameter flow Real x;
  inner final Real y;
end A;
"#,
        r#"
2:13 E0143 expected `flow` before `parameter`, found it behind
  hint write `flow parameter`
3:9 E0143 expected `final` before `inner`, found it behind
  hint write `final inner`
"#,
    );
}

#[test]
fn repeated_prefix() {
    check(
        r#"
model A
  parameter parameter Real x;
  parameter constant Real y;
end A;
"#,
        r#"
2:13 E0144 expected a type or a class, found `parameter` behind `parameter`
  hint remove one `parameter`
3:13 E0144 expected a type or a class, found `constant` behind `parameter`
  hint `constant` and `parameter` exclude each other; keep one
"#,
    );
}

#[test]
fn semicolon_behind_class_head() {
    check(
        r#"
model A;
  Real x;
end A;
"#,
        r#"
1:8 E0150 expected the contents of the class, found `;`
  hint no `;` stands behind the name of a class; remove it
"#,
    );
}

#[test]
fn missing_class_name() {
    check(
        r#"
model
  Real x;
end A;
"#,
        r#"
1:6 E0108 expected the name of a class, found `Real`
"#,
    );
}

#[test]
fn pure_model() {
    check(
        r#"
pure model A
end A;
"#,
        r#"
1:6 E0108 expected `function`, found `model`
"#,
    );
}

#[test]
fn bad_argument() {
    check(
        r#"
model A
  Real x(3, start=1);
  Real y;
end A;
"#,
        r#"
2:10 E0108 expected a modification such as `name = value`, found `3`
"#,
    );
}
