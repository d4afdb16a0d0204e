use saltus_flat::ExprKind;

use crate::testing::{Test, check_function, check_model};

#[test]
fn array_constructors() {
    check_model(&[
        ("{1, 2.5}", "{1.0, 2.5} : Real[2]"),
        ("{{1, 2}, {3, 4}}", "{{1, 2}, {3, 4}} : Integer[2, 2]"),
        ("{v, k}", "{v, k} : Real[2, 3]"),
        ("{E.a, e}", "{E.a, e} : E[2]"),
        ("{r, S(1.0, 2.0)}", "{S(i, x), S(1.0, 2.0)} : S[2]"),
        ("{none}", "{none} : Real[1, 0]"),
    ]);
    check_function(&[("{u, {1, 2}}", "{u, {1.0, 2.0}} : Real[2, 2]")]);
}

#[test]
fn matrix_constructors() {
    check_model(&[
        ("[1, 2; 3, 4.5]", "{{1.0, 2.0}, {3.0, 4.5}} : Real[2, 2]"),
        ("[x]", "{{x}} : Real[1, 1]"),
        ("[v]", "promote(v, 2) : Real[3, 1]"),
        ("[A]", "A : Real[3, 3]"),
        ("[v, v]", "cat(2, promote(v, 2), promote(v, 2)) : Real[3, 2]"),
        ("[A; B]", "cat(1, A, B) : Real[5, 3]"),
        ("[v; x]", "cat(1, promote(v, 2), {{x}}) : Real[4, 1]"),
        ("[A, v; row, 1]", "cat(1, cat(2, A, promote(v, 2)), cat(2, row, {{1.0}})) : Real[4, 4]"),
        ("[T; T]", "cat(1, T, T) : Real[4, 2, 2]"),
    ]);
    check_function(&[("[M, u]", "cat(2, M, promote(u, 2)) : Real[:, :]")]);
}

#[test]
fn ranges() {
    check_model(&[
        ("1:3", "1:3 : Integer[3]"),
        ("1:n", "1:n : Integer[3]"),
        ("3:1", "3:1 : Integer[0]"),
        ("1:2:6", "1:2:6 : Integer[3]"),
        ("5:-2:1", "5:-2:1 : Integer[3]"),
        ("1:-1:2", "1:-1:2 : Integer[0]"),
        // 2.7, 3.7, 4.7, 5.7, 6.7
        ("2.7:6.8", "2.7:6.8 : Real[5]"),
        // Eleven points, although 1 / 0.1 rounds.
        ("0:0.1:1", "0.0:0.1:1.0 : Real[11]"),
        ("0:0.1:0.3", "0.0:0.1:0.3 : Real[4]"),
        ("1:2.5", "1.0:2.5 : Real[2]"),
        ("false:true", "false:true : Boolean[2]"),
        ("E.a:E.c", "E.a:E.c : E[3]"),
        ("i:i + 2", "i:i + 2 : Integer[3]"),
        ("i - 1:1 + i", "i - 1:1 + i : Integer[3]"),
    ]);
    check_function(&[("1:m", "1:m : Integer[:]"), ("m + 1:m + 4", "m + 1:m + 4 : Integer[4]")]);
}

#[test]
fn subscripts() {
    check_model(&[
        ("v[2]", "v[2] : Real"),
        ("A[1]", "A[1] : Real[3]"),
        ("A[1, :]", "A[1] : Real[3]"),
        ("A[:, 1]", "A[:, 1] : Real[3]"),
        ("A[:, :]", "A : Real[3, 3]"),
        ("v[1:2]", "v[1:2] : Real[2]"),
        ("A[{1, 3}, 2:3]", "A[{1, 3}, 2:3] : Real[2, 2]"),
        ("v[k]", "v[k] : Real[3]"),
        ("v[i]", "v[i] : Real"),
        ("v[e]", "v[e] : Real"),
        ("w[b]", "w[b] : Real"),
        ("v[E.a:E.b]", "v[Integer(E.a:E.b)] : Real[2]"),
        ("w[{true, b}]", "w[{2, if b then 2 else 1}] : Real[2]"),
        ("none[1:0]", "none[1:0] : Real[0]"),
    ]);
    check_function(&[("u[m]", "u[m] : Real"), ("M[m:m + 1, 1]", "M[m:m + 1, 1] : Real[2]")]);
}

#[test]
fn constant_subscripts_of_constructors_are_resolved() {
    check_model(&[
        ("({x, y})[2]", "y : Real"),
        ("({{1, 2}, {3, 4}})[2, 1]", "3 : Integer"),
        ("({{1, 2}, {3, 4}})[:, 2]", "{2, 4} : Integer[2]"),
        ("({x, y, p})[2:3]", "{y, p} : Real[2]"),
        ("({x, y, p})[{3, 1}]", "{p, x} : Real[2]"),
        ("({x, y})[true]", "y : Real"),
        ("({x, y, p})[E.c]", "p : Real"),
        ("({x, y})[i]", "({x, y})[i] : Real"),
        ("(1:3)[2]", "2 : Integer"),
    ]);
}

#[test]
fn subscripts_of_subscripts_are_merged() {
    check_model(&[
        ("(A[2])[3]", "A[2, 3] : Real"),
        ("(A[:, 2])[3]", "A[3, 2] : Real"),
        ("(v[2:3])[1]", "v[2] : Real"),
        ("(v[{3, 1}])[{2, 1}]", "v[{1, 3}] : Real[2]"),
        ("(v[k])[i]", "v[k[i]] : Real"),
        ("(T[:, 1])[2, 1]", "T[2, 1, 1] : Real"),
    ]);
    let mut test = Test::model();
    let expr = test.expr("((T[1:2])[1])[2]");
    let ExprKind::Index { base, .. } = &expr.kind else { panic!("{expr:?}") };
    assert!(matches!(base.kind, ExprKind::Var(_)));
}

#[test]
fn fields_of_records() {
    check_model(&[("(r).x", "x : Real"), ("({r, r}).n", "{i, i} : Integer[2]")]);
    check_function(&[("r.n", "r.n : Integer"), ("rs.x", "rs.x : Real[:]"), ("(rs[2]).x", "rs[2].x : Real")]);
}

#[test]
fn reductions() {
    check_model(&[
        ("sum(j for j in 1:10)", "sum(j for j in 1:10) : Integer"),
        ("sum(v for j in 1:10)", "sum(v for j in 1:10) : Real[3]"),
        ("{j ^ 2 for j in 1:4}", "{j^2.0 for j in 1:4} : Real[4]"),
        // The last iterator of the text is the first dimension.
        ("{a - h for a in 1:2, h in 1:3}", "{a - h for a in 1:2, h in 1:3} : Integer[3, 2]"),
        ("{v for j in 1:2}", "{v for j in 1:2} : Real[2, 3]"),
        ("{product(h for h in 1:a) for a in 0:4}", "{product(h for h in 1:a) for a in 0:4} : Integer[5]"),
        ("max(t for t in {x, y})", "max(t for t in {x, y}) : Real"),
        ("{sum(v[a:a + 1]) for a in 1:2}", "{sum(v[a:a + 1]) for a in 1:2} : Real[2]"),
    ]);
    check_function(&[("{t for t in u}", "{t for t in u} : Real[:]")]);
}
