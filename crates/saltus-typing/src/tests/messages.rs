//! Messages about operators, array constructors, subscripts and fields, word by word.

use crate::testing::{Test, check_function, check_model};

#[test]
fn operators_on_wrong_types() {
    check_model(&[
        (
            "b * 2",
            "E0301: operator `*` expects Real or Integer operands, but `b` is Boolean | convert a Boolean with `if b \
             then 1 else 0`",
        ),
        (
            "s * 2",
            "E0301: operator `*` expects Real or Integer operands, but `s` is String | strings know only `+`, which \
             joins them",
        ),
        (
            "s + 1",
            "E0301: operator `+` expects Real or Integer operands, but `s` is String | turn the number into text with \
             `String(…)` to join both",
        ),
        (
            "e + 1",
            "E0301: operator `+` expects Real or Integer operands, but `e` is E | get the ordinal number of an \
             enumeration value with `Integer(e)`",
        ),
        (
            "r + 1",
            "E0301: operator `+` expects Real or Integer operands, but `R(x, i)` is R | operators work on a record \
             only if it is an `operator record` with `'+'`",
        ),
        (
            "x and b",
            "E0311: operator `and` expects Boolean operands, but `x` is Real | write the comparison that is meant, \
             such as `x > 0`",
        ),
        (
            "i or b",
            "E0311: operator `or` expects Boolean operands, but `i` is Integer | write the comparison that is meant, \
             such as `i <> 0`",
        ),
        (
            "not s",
            "E0311: operator `not` expects Boolean operands, but `s` is String | only Boolean values can be combined \
             with `and`, `or` and `not`",
        ),
        (
            "nothing + 1",
            "E0334: a value is expected, but `terminate()` has no result | a function without output can only be \
             called on its own",
        ),
        (
            "sin(nothing)",
            "E0334: a value is expected, but `terminate()` has no result | a function without output can only be \
             called on its own",
        ),
        (
            "{nothing}",
            "E0334: a value is expected, but `terminate()` has no result | a function without output can only be \
             called on its own",
        ),
    ]);
}

#[test]
fn operands_of_wrong_size() {
    check_model(&[
        (
            "v + w",
            "E0302: operator `+` expects operands of equal size, but they are Real[3] and Real[2] | the sizes differ \
             in dimension 1",
        ),
        (
            "v + A",
            "E0302: operator `+` expects operands of equal size, but they are Real[3] and Real[3, 3] | the left \
             operand is a vector, the right one a matrix; bring them to the same shape",
        ),
        (
            "bb or {true,false,true}",
            "E0302: operator `or` expects operands of equal size, but they are Boolean[2] and Boolean[3] | the sizes \
             differ in dimension 1",
        ),
        (
            "v .* w",
            "E0302: operator `.*` expects operands of equal size, but they are Real[3] and Real[2] | the sizes differ \
             in dimension 1",
        ),
        (
            "v + 1",
            "E0303: operator `+` cannot combine a scalar with an array: the operands are Real[3] and Real | `.+` \
             applies the scalar to every element",
        ),
        (
            "1 - v",
            "E0303: operator `-` cannot combine a scalar with an array: the operands are Real and Real[3] | `.-` \
             applies the scalar to every element",
        ),
        ("1 / v", "E0304: operator `/` expects a scalar divisor, but it is Real[3] | `./` divides element by element"),
        (
            "B * B",
            "E0305: the product Real[2, 3] * Real[2, 3] expects the inner sizes to be equal, but the last size on the \
             left is 3 and the first on the right is 2 | `.*` multiplies element by element",
        ),
        (
            "A * w",
            "E0305: the product Real[3, 3] * Real[2] expects the inner sizes to be equal, but the last size on the \
             left is 3 and the first on the right is 2 | perhaps one operand must be transposed or the operands \
             exchanged",
        ),
        (
            "v * B",
            "E0305: the product Real[3] * Real[2, 3] expects the inner sizes to be equal, but the last size on the \
             left is 3 and the first on the right is 2 | perhaps one operand must be transposed or the operands \
             exchanged",
        ),
        (
            "v * w",
            "E0305: the product Real[3] * Real[2] expects the inner sizes to be equal, but the last size on the left \
             is 3 and the first on the right is 2 | perhaps one operand must be transposed or the operands exchanged",
        ),
        (
            "T * v",
            "E0306: operator `*` multiplies vectors and matrices only, but the operands are Real[2, 2, 2] and Real[3] \
             | take a matrix out of the larger array with subscripts, as in `T[1, :, :]`",
        ),
        (
            "v ^ 2",
            "E0307: operator `^` expects two scalars, or a square matrix and a scalar Integer exponent, but got \
             Real[3] ^ Integer | `.^` raises element by element",
        ),
        (
            "B ^ 2",
            "E0307: operator `^` expects two scalars, or a square matrix and a scalar Integer exponent, but got \
             Real[2, 3] ^ Integer | `.^` raises element by element",
        ),
        (
            "A ^ 0.5",
            "E0307: operator `^` expects two scalars, or a square matrix and a scalar Integer exponent, but got \
             Real[3, 3] ^ Real | `.^` raises element by element",
        ),
        (
            "A ^ (-1)",
            "E0307: the exponent of a matrix must not be negative, but it is -1 | instead of inverting `A` let the \
             equation `A * x = b` determine `x`",
        ),
    ]);
}

#[test]
fn relations() {
    check_model(&[
        (
            "v < 1",
            "E0308: operator `<` compares scalars only, but the operands are Real[3] and Integer | compare each \
             element: `{a[i] < b[i] for i in 1:size(a, 1)}`",
        ),
        (
            "s < 1",
            "E0309: operator `<` expects two values of one simple type, but the operands are String and Integer | \
             convert one operand so that both have the same type",
        ),
        (
            "e == f",
            "E0309: operator `==` expects two values of one simple type, but the operands are E and F | values of two \
             enumerations cannot be compared, even if some literals have the same name",
        ),
        (
            "e == 1",
            "E0309: operator `==` expects two values of one simple type, but the operands are E and Integer | get the \
             ordinal number of an enumeration value with `Integer(e)`",
        ),
        (
            "r == r",
            "E0309: operator `==` expects two values of one simple type, but the operands are R and R | records are \
             compared field by field, or by an `operator record` that defines the operator",
        ),
        (
            "1 < b",
            "E0309: operator `<` expects two values of one simple type, but the operands are Integer and Boolean | `a \
             < b < c` is written `a < b and b < c`; a Boolean compares with Booleans only",
        ),
        (
            "c == c",
            "E0309: operator `==` expects two values of one simple type, but the operands are Clock and Clock | \
             clocks cannot be compared",
        ),
        (
            "x == 0",
            "E0310: operator `==` is not allowed on Real values outside functions (here Real == Integer) | compare \
             with `<=` or `>=`, or with a tolerance as in `abs(a - b) < eps`; for a change of a discrete value use \
             `change(v)`",
        ),
        (
            "x <> y",
            "E0310: operator `<>` is not allowed on Real values outside functions (here Real <> Real) | compare with \
             `<=` or `>=`, or with a tolerance as in `abs(a - b) >= eps`; for a change of a discrete value use \
             `change(v)`",
        ),
        (
            "p == 0",
            "W0310: operator `==` on Real parameters is not allowed by the language outside functions | other tools \
             may reject it; compare with a tolerance or use an Integer or Boolean",
        ),
    ]);
}

#[test]
fn conditions_and_branches() {
    check_model(&[
        (
            "if x then 1 else 2",
            "E0312: the condition of `if` must be a scalar Boolean, but it is Real | write the comparison that is \
             meant, such as `x > 0`",
        ),
        (
            "if bb then 1 else 2",
            "E0312: the condition of `if` must be a scalar Boolean, but it is Boolean[2] | reduce the array to one \
             value, for example with `min(b)` (all) or `max(b)` (any)",
        ),
        (
            "if i then 1 else 2",
            "E0312: the condition of `if` must be a scalar Boolean, but it is Integer | write the comparison that is \
             meant, such as `x > 0`",
        ),
        (
            "if s then 1 else 2",
            "E0312: the condition of `if` must be a scalar Boolean, but it is String | a condition is a relation such \
             as `x > 0` or a Boolean variable",
        ),
        (
            "if b then 1 else s",
            "E0313: both branches of an `if`-expression must have one type, but `then` gives Integer and `else` \
             String | Integer and Real may be mixed; nothing else is converted by itself",
        ),
        (
            "if b then v else x",
            "E0314: both branches of an `if`-expression must have equal sizes, but `then` gives Real[3] and `else` \
             Real | a scalar becomes an array of equal elements with `fill(value, n)`",
        ),
        (
            "if b then v else w",
            "E0314: both branches of an `if`-expression must have equal sizes, but `then` gives Real[3] and `else` \
             Real[2] | different sizes are possible only if the condition is known at compile time",
        ),
    ]);
}

#[test]
fn array_constructors() {
    check_model(&[
        (
            "{1, s}",
            "E0316: all elements of an array must have one type, but element 2 is String, those before it Integer | \
             Integer and Real may be mixed; nothing else is converted by itself",
        ),
        (
            "{v, w}",
            "E0317: all elements of an array must have equal sizes, but element 2 is Real[2], those before it Real[3] \
             | to join vectors end to end write `cat(1, a, b)`",
        ),
        (
            "{x, v}",
            "E0317: all elements of an array must have equal sizes, but element 2 is Real[3], those before it Real | \
             to put a scalar before a vector write `cat(1, {x}, v)`",
        ),
        (
            "[1, 2; 3]",
            "E0318: `[…; …]` along dimension 1 expects equal sizes in dimension 2, but part 2 is Integer[1, 1], the \
             first Integer[1, 2] | all rows must have the same number of columns",
        ),
        (
            "[A, w]",
            "E0318: `[…, …]` along dimension 2 expects equal sizes in dimension 1, but part 2 is Real[2, 1], the \
             first Real[3, 3] | parts that stand side by side must have the same number of rows; a vector is a column",
        ),
        (
            "[A; T]",
            "E0318: `[…; …]` along dimension 1 expects equal sizes in dimension 2, but part 2 is Real[2, 2, 2], the \
             first Real[3, 3, 1] | all rows must have the same number of columns",
        ),
        (
            "[s, v]",
            "E0318: `[…, …]` expects parts of equal rank and type, but part 2 is Real[3, 1], the first String[1, 1] | \
             check the sizes with `size(…)`; `promote(A, n)` appends dimensions of size 1",
        ),
        (
            "cat(1, A, v)",
            "E0318: `cat` expects parts of equal rank and type, but part 2 is Real[3], the first Real[3, 3] | check \
             the sizes with `size(…)`; `promote(A, n)` appends dimensions of size 1",
        ),
        (
            "cat(1, A, [1,2])",
            "E0318: `cat` along dimension 1 expects equal sizes in dimension 2, but part 2 is Integer[1, 2], the \
             first Real[3, 3] | all rows must have the same number of columns",
        ),
        (
            "cat(3, T, A)",
            "E0318: `cat` expects parts of equal rank and type, but part 2 is Real[3, 3], the first Real[2, 2, 2] | \
             check the sizes with `size(…)`; `promote(A, n)` appends dimensions of size 1",
        ),
        (
            "1:s",
            "E0319: a range expects scalar bounds of type Real, Integer, Boolean or enumeration, but got String | as \
             in `1:n`, `0:0.1:1`, `false:true` or `E.first:E.last`",
        ),
        (
            "v:3",
            "E0319: a range expects scalar bounds of type Real, Integer, Boolean or enumeration, but got Real[3] | as \
             in `1:n`, `0:0.1:1`, `false:true` or `E.first:E.last`",
        ),
        (
            "false:3",
            "E0319: a range expects its bounds to have one type, but they are Boolean and Integer | as in `1:n`, \
             `0:0.1:1`, `false:true` or `E.first:E.last`",
        ),
        (
            "1:s:3",
            "E0319: a range expects scalar bounds of type Real, Integer, Boolean or enumeration, but got String | as \
             in `1:n`, `0:0.1:1`, `false:true` or `E.first:E.last`",
        ),
        (
            "E.a:2:E.c",
            "E0319: a range with a step expects Real or Integer, but it starts with E, step Integer | ranges of \
             Boolean and enumeration values have no step",
        ),
        (
            "1:0:5",
            "E0320: the step of a range must not be zero | `a : step : b` counts from `a` to `b` in steps; the step \
             stands in the middle",
        ),
        (
            "0:0.0:1",
            "E0320: the step of a range must not be zero | `a : step : b` counts from `a` to `b` in steps; the step \
             stands in the middle",
        ),
        (
            "1:free",
            "E0343: the length of this range must be known at compile time, but `free` is not | use literals, \
             constants, parameters with a value, or `size(…)` of an array",
        ),
        (
            "1:i",
            "E0343: the length of this range must be known at compile time, but `i` is not | use literals, constants, \
             parameters with a value, or `size(…)` of an array",
        ),
        (
            "v[x:2]",
            "E0343: the length of this range must be known at compile time, but `x` is not | use literals, constants, \
             parameters with a value, or `size(…)` of an array",
        ),
    ]);
}

#[test]
fn subscripts_and_fields() {
    check_model(&[
        (
            "x[1]",
            "E0321: `x` is a scalar (Real) and cannot have subscripts | remove the subscripts, or declare it as an \
             array",
        ),
        (
            "v[1,2]",
            "E0321: `v` (Real[3]) has 1 dimension, but got 2 subscripts | give at most one subscript for each \
             dimension",
        ),
        (
            "A[1,1,1]",
            "E0321: `A` (Real[3, 3]) has 2 dimensions, but got 3 subscripts | give at most one subscript for each \
             dimension",
        ),
        (
            "v[4]",
            "E0322: subscript 4 is out of bounds: dimension 1 of `v` (Real[3]) goes from 1 to 3 | `end` is the last \
             element of a dimension",
        ),
        (
            "v[0]",
            "E0322: subscript 0 is out of bounds: dimension 1 of `v` (Real[3]) goes from 1 to 3 | subscripts count \
             from 1",
        ),
        (
            "none[1]",
            "E0322: subscript 1 is out of bounds: dimension 1 of `none` (Real[0]) is empty | `end` is the last \
             element of a dimension",
        ),
        (
            "A[1, 3:4]",
            "E0322: subscript 4 is out of bounds: dimension 2 of `A` (Real[3, 3]) goes from 1 to 3 | `end` is the \
             last element of a dimension",
        ),
        (
            "v[{1, 5}]",
            "E0322: subscript 5 is out of bounds: dimension 1 of `v` (Real[3]) goes from 1 to 3 | `end` is the last \
             element of a dimension",
        ),
        (
            "v[1.5]",
            "E0323: a subscript must be an Integer, Boolean or enumeration scalar or vector, but it is Real | \
             `integer(x)` rounds down to an Integer; the quotient `a / b` is Real, `div(a, b)` Integer",
        ),
        (
            "v[s]",
            "E0323: a subscript must be an Integer, Boolean or enumeration scalar or vector, but it is String | as in \
             `x[2]`, `x[1:3]`, `x[:]`",
        ),
        (
            "v[A]",
            "E0323: a subscript must be an Integer, Boolean or enumeration scalar or vector, but it is Real[3, 3] | \
             `integer(x)` rounds down to an Integer; the quotient `a / b` is Real, `div(a, b)` Integer",
        ),
        (
            "v[N]",
            "E0323: a subscript must be an Integer, Boolean or enumeration scalar or vector, but it is Integer[2, 2] \
             | use one vector of subscripts for each dimension",
        ),
        (
            "v[b]",
            "E0324: a subscript of type Boolean expects a dimension of size 2, but dimension 1 of `v` (Real[3]) has \
             another size | only a dimension declared as `[Boolean]` is indexed by Boolean",
        ),
        (
            "w[e]",
            "E0324: a subscript of type E expects a dimension of size 3, but dimension 1 of `w` (Real[2]) has another \
             size | only a dimension declared as `[E]` is indexed by E",
        ),
        (
            "(x).foo",
            "E0325: `.foo` expects a record, but `x` is Real | only records have fields that can be taken from a \
             value",
        ),
        ("(r).m", "E0326: the record R has no field `m` | its fields are `x`, `n`"),
        ("(r).foo", "E0326: the record R has no field `foo` | its fields are `x`, `n`"),
    ]);
}

#[test]
fn operators_in_functions() {
    check_function(&[(
        "u + M",
        "E0302: operator `+` expects operands of equal size, but they are Real[:] and Real[:, :] | the left \
             operand is a vector, the right one a matrix; bring them to the same shape",
    )]);
}

#[test]
fn empty_constructors() {
    let span = saltus_base::Span::nowhere();
    let mut test = Test::model();
    crate::array(&mut test, vec![], span);
    crate::matrix(&mut test, vec![vec![]], span);
    assert_eq!(
        test.messages(),
        "E0315: an array constructor needs at least one element; `{}` has no type | an empty Real vector is \
         `fill(0.0, 0)`, an empty Integer vector `zeros(0)`\n\
         E0315: an array constructor needs at least one element; `[]` has no type | an empty Real vector is \
         `fill(0.0, 0)`, an empty Integer vector `zeros(0)`"
    );
}

/// The span of a message is the operand or argument that can be changed, not the whole expression.
#[test]
fn messages_point_at_the_offender() {
    for (text, span) in [
        ("x + s", (4, 5)),
        ("v + w", (0, 5)),
        ("{1, 2, s}", (7, 8)),
        ("v[1 + 3]", (2, 7)),
        ("sin(x) + cos(b)", (13, 14)),
    ] {
        let mut test = Test::model();
        test.expr(text);
        assert_eq!(test.spans(), [span], "{text}");
    }
}
