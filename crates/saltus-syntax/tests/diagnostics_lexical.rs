//! Messages about text that is not a token. Each test states the whole output: line and column in the text (from 1),
//! code, message, labels and hints.

mod common;

use common::check;

#[test]
fn bad_character() {
    check(
        r#"
model A
  Real x = 3 § 4;
end A;
"#,
        r#"
2:14 E0101 expected Modelica text, found the character `§`
  hint letters outside ASCII are allowed in strings, comments and quoted identifiers ('…') only
"#,
    );
}

#[test]
fn typographic_quotes() {
    check(
        r#"
model A “text”
end A;
"#,
        r#"
1:9 E0101 expected Modelica text, found the character `“`
  hint strings stand in straight double quotes: "…"
1:14 E0101 expected Modelica text, found the character `”`
  hint strings stand in straight double quotes: "…"
"#,
    );
}

#[test]
fn hash_comment() {
    check(
        r#"
model A
  # a comment
  Real x;
end A;
"#,
        r#"
2:3 E0101 expected Modelica text, found the character `#`
  hint comments begin with `//`
"#,
    );
}

#[test]
fn unterminated_string() {
    check(
        r#"
model A
  Real x "first;
  Real y "second";
  Real z "third";
end A;
"#,
        r#"
2:10 E0102 expected a closing `"`, found none
  hint close the string with `"`; a double quote inside a string is written `\"`
"#,
    );
}

#[test]
fn unterminated_comment() {
    check(
        r#"
model A
  Real x;
end A;
/* never closed
"#,
        r#"
4:1 E0103 expected `*/`, found the end of the file
  hint close the comment with `*/`, or use `//` for the rest of one line
"#,
    );
}

#[test]
fn an_unterminated_comment_hides_what_is_missing_behind_it() {
    check(
        "model A
  Real x = 1; /* hello
end A;",
        "
2:15 E0103 expected `*/`, found the end of the file
  hint close the comment with `*/`, or use `//` for the rest of one line
",
    );
}

#[test]
fn a_number_that_no_real_can_hold() {
    check(
        "model A
  parameter Real a = 1e400;
end A;",
        "
2:22 E0152 expected a number that a Real can hold, found a larger one
  hint the largest is about 1.8e308; for no limit leave out the attribute
",
    );
}

#[test]
fn unterminated_quoted_identifier() {
    check(
        r#"
model A
  Real 'x y = 1;
end A;
"#,
        r#"
2:8 E0104 expected a closing `'`, found the end of the line
  hint single quotes enclose identifiers such as 'my name'; strings stand in double quotes: "…"
"#,
    );
}

#[test]
fn not_equal_of_c() {
    check(
        r#"
model A
  Boolean b = x != y;
end A;
"#,
        r#"
2:17 E0105 expected an operator of Modelica, found `!=`
  hint write `<>` instead of `!=`
"#,
    );
}

#[test]
fn and_of_c() {
    check(
        r#"
model A
  Boolean b = x && y;
end A;
"#,
        r#"
2:17 E0105 expected an operator of Modelica, found `&&`
  hint write `and` instead of `&&`
"#,
    );
}

#[test]
fn or_of_c() {
    check(
        r#"
model A
  Boolean b = x || y;
end A;
"#,
        r#"
2:17 E0105 expected an operator of Modelica, found `||`
  hint write `or` instead of `||`
"#,
    );
}

#[test]
fn not_of_c() {
    check(
        r#"
model A
  Boolean b = !y;
end A;
"#,
        r#"
2:15 E0105 expected an operator of Modelica, found `!`
  hint write `not` instead of `!`
"#,
    );
}

#[test]
fn power_of_fortran() {
    check(
        r#"
model A
  Real b = x**2;
end A;
"#,
        r#"
2:13 E0105 expected an operator of Modelica, found `**`
  hint write `^` instead of `**`
"#,
    );
}

#[test]
fn unknown_escape() {
    check(
        r#"
model A
  String s = "C:\dir";
end A;
"#,
        r#"
2:17 E0106 expected an escape sequence such as `\n`, found `\d`
  hint a backslash in a string is written `\\`
"#,
    );
}

#[test]
fn exponent_without_digits() {
    check(
        r#"
model A
  Real x = 1e+;
end A;
"#,
        r#"
2:12 E0107 expected digits behind the `e` of a number, found none
  hint write for example `1e3` or `1e-3`
"#,
    );
}

#[test]
fn number_with_letters() {
    check(
        r#"
model A
  Real 2x = 1;
end A;
"#,
        r#"
2:8 E0107 expected a number or an identifier, found `2x`
  hint identifiers begin with a letter or `_`; a product is written with `*`
"#,
    );
}
