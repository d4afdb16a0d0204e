use crate::testing::{check_function, check_model};

#[test]
fn arithmetic_converts_integers() {
    check_model(&[
        ("x + i", "x + i : Real"),
        ("1 + 2", "1 + 2 : Integer"),
        ("1 + 2.5", "1.0 + 2.5 : Real"),
        ("i * i", "i * i : Integer"),
        ("i / 2", "i / 2.0 : Real"),
        ("i ^ 2", "i^2.0 : Real"),
        ("-2", "-2 : Integer"),
        ("-2.5", "-2.5 : Real"),
        ("-i", "-i : Integer"),
        ("+v", "v : Real[3]"),
        ("s + \"a\"", "s + \"a\" : String"),
        ("k + v", "k + v : Real[3]"),
        ("{1, 2, 3} + v", "{1.0, 2.0, 3.0} + v : Real[3]"),
    ]);
}

#[test]
fn products_of_vectors_and_matrices() {
    check_model(&[
        ("2 * v", "2.0 * v : Real[3]"),
        ("v * 2", "v * 2.0 : Real[3]"),
        ("v * v", "v * v : Real"),
        ("A * v", "A * v : Real[3]"),
        ("B * v", "B * v : Real[2]"),
        ("w * B", "w * B : Real[3]"),
        ("B * A", "B * A : Real[2, 3]"),
        ("k * k", "k * k : Integer"),
        ("N * N", "N * N : Integer[2, 2]"),
        ("v .* v", "v .* v : Real[3]"),
        ("v / 2", "v / 2.0 : Real[3]"),
        ("1 ./ v", "1.0 ./ v : Real[3]"),
        ("v .^ 2", "v.^2.0 : Real[3]"),
        ("v .+ 1", "v .+ 1.0 : Real[3]"),
        ("1 .- v", "1.0 .- v : Real[3]"),
        ("A ^ 2", "A^2 : Real[3, 3]"),
        ("N ^ n", "N^n : Integer[2, 2]"),
        ("T .* T", "T .* T : Real[2, 2, 2]"),
    ]);
}

#[test]
fn relations_and_logic() {
    check_model(&[
        ("x > 0", "x > 0.0 : Boolean"),
        ("i == 1", "i == 1 : Boolean"),
        ("e == E.b", "e == E.b : Boolean"),
        ("s < \"m\"", "s < \"m\" : Boolean"),
        ("b <> false", "b <> false : Boolean"),
        ("b and x < 1", "b and x < 1.0 : Boolean"),
        ("not bb", "not bb : Boolean[2]"),
        ("bb or bb", "bb or bb : Boolean[2]"),
        // Same literals in the same order are one type; the value goes by its ordinal.
        ("g == e", "E(Integer(g)) == e : Boolean"),
    ]);
    check_function(&[("x == 0", "x == 0.0 : Boolean")]);
}

#[test]
fn if_expressions_unify_their_branches() {
    check_model(&[
        ("if b then 1 else 2.5", "if b then 1.0 else 2.5 : Real"),
        ("if b then v else {1, 2, 3}", "if b then v else {1.0, 2.0, 3.0} : Real[3]"),
        ("if b then E.a else e", "if b then E.a else e : E"),
        // `q` is true at compile time, so the size is that of the first branch.
        ("if q then v else w", "v : Real[3]"),
        ("if b then r else S(1.0, 2.0)", "if b then S(i, x) else S(1.0, 2.0) : S"),
    ]);
    check_function(&[("if b then {1} else {1, 2}", "if b then {1} else {1, 2} : Integer[:]")]);
}

#[test]
fn sizes_may_be_unknown_in_functions() {
    check_function(&[
        ("u + z", "u + z : Real[:]"),
        ("u + {1, 2}", "u + {1.0, 2.0} : Real[2]"),
        ("M * u", "M * u : Real[:]"),
        ("M * M", "M * M : Real[:, :]"),
        ("M ^ m", "M^m : Real[:, :]"),
        ("u * z", "u * z : Real"),
    ]);
}

#[test]
fn what_was_reported_is_not_reported_again() {
    check_model(&[(
        "(x + s) * v + (if b then s - 1 else 0)",
        "E0301: operator `+` expects Real or Integer operands, but `s` is String | turn the number into text with \
         `String(…)` to join both\nE0301: operator `-` expects Real or Integer operands, but `s` is String | strings know \
         only `+`, which joins them",
    )]);
}
