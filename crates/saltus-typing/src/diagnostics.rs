//! The wording of every message of this crate, one function each: E0301–E0314 operators and conditions, E0315–E0320 array
//! constructors, E0321–E0326 subscripts and fields, E0327–E0333 conversions and equations; the rest, for calls
//! of built-in functions, is in [`calls`].

pub(crate) mod calls;

use saltus_base::{Code, Diagnostic, Span, nearest};
use saltus_flat::{BaseType, Dim, Expr, Type};

use crate::names::{dims_text, plural, rank_text, size_text, type_name};
use crate::{Context, Place};

fn error(code: &'static str, span: Span, message: String) -> Diagnostic {
    Diagnostic::new(Code(code), span, message)
}

/// Whether a message is about sizes, or about types that have sizes in them: it may follow from a size that is not known.
pub fn is_about_sizes(diagnostic: &Diagnostic) -> bool {
    matches!(diagnostic.code.0, "E0327" | "E0343")
}

/// Text of an expression that fits into a line.
fn describe(cx: &dyn Context, expr: &Expr) -> String {
    const MOST: usize = 60;
    let text = cx.describe(expr);
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// `"a" * 2`
pub(crate) fn operand_not_numeric(cx: &dyn Context, op: &str, operand: &Expr) -> Diagnostic {
    let ty = type_name(cx, &operand.ty);
    let message = format!("operator `{op}` expects Real or Integer operands, but `{}` is {ty}", describe(cx, operand));
    error("E0301", operand.span, message).hint(match operand.ty.base {
        BaseType::Boolean => "convert a Boolean with `if b then 1 else 0`".to_string(),
        BaseType::String if op != "+" && op != ".+" => "strings know only `+`, which joins them".to_string(),
        BaseType::String => "turn the number into text with `String(…)` to join both".to_string(),
        BaseType::Enumeration(_) => "get the ordinal number of an enumeration value with `Integer(e)`".to_string(),
        BaseType::Record(_) => format!("operators work on a record only if it is an `operator record` with `'{op}'`"),
        _ => "check the name and the parentheses of this operand".to_string(),
    })
}

/// `{1, 2} + {1, 2, 3}`
pub(crate) fn sizes_differ(cx: &dyn Context, op: &str, left: &Type, right: &Type, span: Span) -> Diagnostic {
    let (l, r) = (type_name(cx, left), type_name(cx, right));
    let message = format!("operator `{op}` expects operands of equal size, but they are {l} and {r}");
    let diagnostic = error("E0302", span, message);
    if left.rank() != right.rank() {
        let (l, r) = (rank_text(left.rank()), rank_text(right.rank()));
        return diagnostic
            .hint(format!("the left operand is a {l}, the right one a {r}; bring them to the same shape"));
    }
    match left.dims.iter().zip(&right.dims).position(|(a, b)| !a.fits(*b)) {
        Some(i) => diagnostic.hint(format!("the sizes differ in dimension {}", i + 1)),
        None => diagnostic,
    }
}

/// `x + 1` with an array `x`
pub(crate) fn scalar_with_array(cx: &dyn Context, op: &str, left: &Type, right: &Type, span: Span) -> Diagnostic {
    let (l, r) = (type_name(cx, left), type_name(cx, right));
    error("E0303", span, format!("operator `{op}` cannot combine a scalar with an array: the operands are {l} and {r}"))
        .hint(format!("`.{op}` applies the scalar to every element"))
}

/// `1 / x` with an array `x`
pub(crate) fn division_by_array(cx: &dyn Context, divisor: &Type, span: Span) -> Diagnostic {
    error("E0304", span, format!("operator `/` expects a scalar divisor, but it is {}", type_name(cx, divisor)))
        .hint("`./` divides element by element")
}

/// `A * x` with different inner sizes
pub(crate) fn inner_sizes_differ(
    cx: &dyn Context,
    left: &Type,
    right: &Type,
    a: Dim,
    b: Dim,
    span: Span,
) -> Diagnostic {
    let (l, r) = (type_name(cx, left), type_name(cx, right));
    let message = format!(
        "the product {l} * {r} expects the inner sizes to be equal, but the last size on the left is {} and the first \
         on the right is {}",
        size_text(a),
        size_text(b)
    );
    let diagnostic = error("E0305", span, message);
    if left.rank() == right.rank() && crate::shape::merge_dims(&left.dims, &right.dims).is_some() {
        diagnostic.hint("`.*` multiplies element by element")
    } else {
        diagnostic.hint("perhaps one operand must be transposed or the operands exchanged")
    }
}

/// `x * y` with more than two dimensions
pub(crate) fn product_of_high_rank(cx: &dyn Context, left: &Type, right: &Type, span: Span) -> Diagnostic {
    let (l, r) = (type_name(cx, left), type_name(cx, right));
    let message = format!("operator `*` multiplies vectors and matrices only, but the operands are {l} and {r}");
    let diagnostic = error("E0306", span, message);
    if crate::shape::merge_dims(&left.dims, &right.dims).is_some() {
        diagnostic.hint("`.*` multiplies element by element")
    } else {
        diagnostic.hint("take a matrix out of the larger array with subscripts, as in `T[1, :, :]`")
    }
}

/// `x ^ 2` with a vector `x`, `A ^ 0.5`
pub(crate) fn power_of_array(cx: &dyn Context, base: &Type, exponent: &Type, span: Span) -> Diagnostic {
    let (b, e) = (type_name(cx, base), type_name(cx, exponent));
    let message = format!(
        "operator `^` expects two scalars, or a square matrix and a scalar Integer exponent, but got {b} ^ {e}"
    );
    error("E0307", span, message).hint("`.^` raises element by element")
}

/// `A ^ (-1)`
pub(crate) fn negative_matrix_power(exponent: i64, span: Span) -> Diagnostic {
    error("E0307", span, format!("the exponent of a matrix must not be negative, but it is {exponent}"))
        .hint("instead of inverting `A` let the equation `A * x = b` determine `x`")
}

/// `{1, 2} < 3`
pub(crate) fn relation_of_arrays(cx: &dyn Context, op: &str, left: &Type, right: &Type, span: Span) -> Diagnostic {
    let (l, r) = (type_name(cx, left), type_name(cx, right));
    error("E0308", span, format!("operator `{op}` compares scalars only, but the operands are {l} and {r}"))
        .hint(format!("compare each element: `{{a[i] {op} b[i] for i in 1:size(a, 1)}}`"))
}

/// `1 < "a"`
pub(crate) fn relation_of_different_types(
    cx: &dyn Context,
    op: &str,
    left: &Type,
    right: &Type,
    span: Span,
) -> Diagnostic {
    let (l, r) = (type_name(cx, left), type_name(cx, right));
    let message = format!("operator `{op}` expects two values of one simple type, but the operands are {l} and {r}");
    let diagnostic = error("E0309", span, message);
    match (left.base, right.base) {
        (BaseType::Enumeration(_), BaseType::Enumeration(_)) => {
            diagnostic.hint("values of two enumerations cannot be compared, even if some literals have the same name")
        }
        (BaseType::Enumeration(_), BaseType::Integer) | (BaseType::Integer, BaseType::Enumeration(_)) => {
            diagnostic.hint("get the ordinal number of an enumeration value with `Integer(e)`")
        }
        (BaseType::Record(_), _) | (_, BaseType::Record(_)) => {
            diagnostic.hint("records are compared field by field, or by an `operator record` that defines the operator")
        }
        (BaseType::Boolean, _) | (_, BaseType::Boolean) => {
            diagnostic.hint("`a < b < c` is written `a < b and b < c`; a Boolean compares with Booleans only")
        }
        (BaseType::Clock, _) | (_, BaseType::Clock) => diagnostic.hint("clocks cannot be compared"),
        _ => diagnostic.hint("convert one operand so that both have the same type"),
    }
}

/// `x == 0` with a Real `x` in a model
pub(crate) fn real_equality(cx: &dyn Context, op: &str, left: &Expr, right: &Expr, span: Span) -> Diagnostic {
    let (l, r) = (type_name(cx, &left.ty), type_name(cx, &right.ty));
    let message = format!("operator `{op}` is not allowed on Real values outside functions (here {l} {op} {r})");
    let instead = match op {
        "==" => "abs(a - b) < eps",
        _ => "abs(a - b) >= eps",
    };
    error("E0310", span, message).hint(format!(
        "compare with `<=` or `>=`, or with a tolerance as in `{instead}`; for a change of a discrete value use `change(v)`"
    ))
}

/// `p == 0` with a Real parameter: no event is needed, so this only loses portability
pub(crate) fn real_equality_of_parameters(op: &str, span: Span) -> Diagnostic {
    let message = format!("operator `{op}` on Real parameters is not allowed by the language outside functions");
    error("W0310", span, message)
        .hint("other tools may reject it; compare with a tolerance or use an Integer or Boolean")
}

/// `x and b` with a Real `x`
pub(crate) fn operand_not_boolean(cx: &dyn Context, op: &str, operand: &Expr) -> Diagnostic {
    let ty = type_name(cx, &operand.ty);
    let message = format!("operator `{op}` expects Boolean operands, but `{}` is {ty}", describe(cx, operand));
    error("E0311", operand.span, message).hint(match operand.ty.base {
        BaseType::Real => "write the comparison that is meant, such as `x > 0`",
        BaseType::Integer => "write the comparison that is meant, such as `i <> 0`",
        _ => "only Boolean values can be combined with `and`, `or` and `not`",
    })
}

/// `if x then …` with a Real `x`
pub(crate) fn condition_not_boolean(cx: &dyn Context, place: Place, condition: &Expr) -> Diagnostic {
    let ty = type_name(cx, &condition.ty);
    error("E0312", condition.span, format!("{} must be a scalar Boolean, but it is {ty}", place.text())).hint(
        match (condition.ty.base, condition.ty.rank()) {
            (BaseType::Boolean, _) => {
                "reduce the array to one value, for example with `min(b)` (all) or `max(b)` (any)"
            }
            (BaseType::Integer | BaseType::Real, 0) => "write the comparison that is meant, such as `x > 0`",
            _ => "a condition is a relation such as `x > 0` or a Boolean variable",
        },
    )
}

/// `if c then 1 else "a"`
pub(crate) fn branches_differ(cx: &dyn Context, then: &Type, otherwise: &Type, span: Span) -> Diagnostic {
    let (t, o) = (type_name(cx, then), type_name(cx, otherwise));
    let message =
        format!("both branches of an `if`-expression must have one type, but `then` gives {t} and `else` {o}");
    error("E0313", span, message).hint("Integer and Real may be mixed; nothing else is converted by itself")
}

/// `if c then {1} else {1, 2}` with a condition that is not known before run time
pub(crate) fn branch_sizes_differ(cx: &dyn Context, then: &Type, otherwise: &Type, span: Span) -> Diagnostic {
    let (t, o) = (type_name(cx, then), type_name(cx, otherwise));
    let message =
        format!("both branches of an `if`-expression must have equal sizes, but `then` gives {t} and `else` {o}");
    let diagnostic = error("E0314", span, message);
    if then.rank() == otherwise.rank() {
        diagnostic.hint("different sizes are possible only if the condition is known at compile time")
    } else {
        diagnostic.hint("a scalar becomes an array of equal elements with `fill(value, n)`")
    }
}

/// `{}`
pub(crate) fn empty_array_constructor(brackets: &str, span: Span) -> Diagnostic {
    error("E0315", span, format!("an array constructor needs at least one element; `{brackets}` has no type"))
        .hint("an empty Real vector is `fill(0.0, 0)`, an empty Integer vector `zeros(0)`")
}

/// `{1, "a"}`
pub(crate) fn elements_differ(cx: &dyn Context, first: &Type, other: &Expr, position: usize) -> Diagnostic {
    let (f, o) = (type_name(cx, first), type_name(cx, &other.ty));
    let message =
        format!("all elements of an array must have one type, but element {position} is {o}, those before it {f}");
    error("E0316", other.span, message).hint("Integer and Real may be mixed; nothing else is converted by itself")
}

/// `{{1, 2}, {3}}`
pub(crate) fn element_sizes_differ(cx: &dyn Context, first: &Type, other: &Expr, position: usize) -> Diagnostic {
    let (f, o) = (type_name(cx, first), type_name(cx, &other.ty));
    let message =
        format!("all elements of an array must have equal sizes, but element {position} is {o}, those before it {f}");
    error("E0317", other.span, message).hint(match (first.rank(), other.ty.rank()) {
        (0, 1) => "to put a scalar before a vector write `cat(1, {x}, v)`",
        (1, 0) => "to put a scalar behind a vector write `cat(1, v, {x})`",
        _ => "to join vectors end to end write `cat(1, a, b)`",
    })
}

/// `r.x` where `r[1].x` and `r[2].x` have different sizes
pub(crate) fn ragged_slice(slice: &str, first: &[Dim], other: &[Dim], span: Span) -> Diagnostic {
    let (first, other) = (dims_text(first), dims_text(other));
    let message = format!("`{slice}` is not an array, because its parts have different sizes: {first} and {other}");
    error("E0373", span, message).hint("name a part with an index that is known before the simulation, as in `r[1].x`")
}

/// `r[i]` with an index that varies, where the fields of `r[1]` and `r[2]` have different sizes
pub(crate) fn ragged_choice(array: &str, span: Span) -> Diagnostic {
    let message =
        format!("an index of `{array}` must be known before the simulation, because the elements differ in size");
    error("E0373", span, message).hint("an index can be a constant, a parameter, or the index of a loop over constants")
}

/// `[1, 2; 3]`; `axis` is the concatenated dimension, `dimension` the one that differs
pub(crate) fn concatenation_mismatch(
    cx: &dyn Context,
    what: &str,
    axis: usize,
    dimension: Option<usize>,
    first: &Type,
    other: &Expr,
    position: usize,
) -> Diagnostic {
    let (f, o) = (type_name(cx, first), type_name(cx, &other.ty));
    let message = match dimension {
        Some(d) => format!(
            "{what} along dimension {axis} expects equal sizes in dimension {d}, but part {position} is {o}, the first {f}"
        ),
        None => format!("{what} expects parts of equal rank and type, but part {position} is {o}, the first {f}"),
    };
    error("E0318", other.span, message).hint(match (axis, dimension) {
        (1, Some(2)) => "all rows must have the same number of columns",
        (2, Some(1)) => "parts that stand side by side must have the same number of rows; a vector is a column",
        _ => "check the sizes with `size(…)`; `promote(A, n)` appends dimensions of size 1",
    })
}

/// `1 : "a"`
pub(crate) fn range_operands(cx: &dyn Context, operand: &Expr, other: Option<&Type>) -> Diagnostic {
    let ty = type_name(cx, &operand.ty);
    let message = match other {
        Some(other) => {
            format!("a range expects its bounds to have one type, but they are {} and {ty}", type_name(cx, other))
        }
        None => format!("a range expects scalar bounds of type Real, Integer, Boolean or enumeration, but got {ty}"),
    };
    error("E0319", operand.span, message).hint("as in `1:n`, `0:0.1:1`, `false:true` or `E.first:E.last`")
}

/// `E.a : 2 : E.c`
pub(crate) fn range_step_not_numeric(cx: &dyn Context, start: &Type, step: &Expr) -> Diagnostic {
    let (s, t) = (type_name(cx, start), type_name(cx, &step.ty));
    error("E0319", step.span, format!("a range with a step expects Real or Integer, but it starts with {s}, step {t}"))
        .hint("ranges of Boolean and enumeration values have no step")
}

/// `1 : 0 : 5`
pub(crate) fn zero_step(span: Span) -> Diagnostic {
    error("E0320", span, "the step of a range must not be zero".to_string())
        .hint("`a : step : b` counts from `a` to `b` in steps; the step stands in the middle")
}

/// `A[1, 2, 3]` with a matrix `A`
pub(crate) fn too_many_subscripts(cx: &dyn Context, base: &Expr, n: usize, span: Span) -> Diagnostic {
    let (what, ty) = (describe(cx, base), type_name(cx, &base.ty));
    let message = match base.ty.rank() {
        0 => format!("`{what}` is a scalar ({ty}) and cannot have subscripts"),
        rank => format!("`{what}` ({ty}) has {}, but got {}", plural(rank, "dimension"), plural(n, "subscript")),
    };
    error("E0321", span, message).hint(match base.ty.rank() {
        0 => "remove the subscripts, or declare it as an array",
        _ => "give at most one subscript for each dimension",
    })
}

/// `x[4]` with `Real x[3]`
pub(crate) fn out_of_bounds(
    cx: &dyn Context,
    base: &Expr,
    dimension: usize,
    value: i64,
    size: u64,
    span: Span,
) -> Diagnostic {
    let (what, ty) = (describe(cx, base), type_name(cx, &base.ty));
    let message = match size {
        0 => format!("subscript {value} is out of bounds: dimension {dimension} of `{what}` ({ty}) is empty"),
        _ => format!(
            "subscript {value} is out of bounds: dimension {dimension} of `{what}` ({ty}) goes from 1 to {size}"
        ),
    };
    let diagnostic = error("E0322", span, message);
    if value == 0 {
        diagnostic.hint("subscripts count from 1")
    } else {
        diagnostic.hint("`end` is the last element of a dimension")
    }
}

/// `x[1.5]`
pub(crate) fn subscript_type(cx: &dyn Context, subscript: &Expr) -> Diagnostic {
    let ty = type_name(cx, &subscript.ty);
    let message = format!("a subscript must be an Integer, Boolean or enumeration scalar or vector, but it is {ty}");
    error("E0323", subscript.span, message).hint(match (subscript.ty.base, subscript.ty.rank()) {
        (BaseType::Real, _) => {
            "`integer(x)` rounds down to an Integer; the quotient `a / b` is Real, `div(a, b)` Integer"
        }
        (_, 2..) => "use one vector of subscripts for each dimension",
        _ => "as in `x[2]`, `x[1:3]`, `x[:]`",
    })
}

/// `x[true]` with `Real x[3]`
pub(crate) fn subscript_does_not_fit_dimension(
    cx: &dyn Context,
    base: &Expr,
    dimension: usize,
    subscript: &Expr,
    expected: usize,
) -> Diagnostic {
    let (what, ty) = (describe(cx, base), type_name(cx, &base.ty));
    let index = type_name(cx, &Type::scalar(subscript.ty.base));
    let message = format!(
        "a subscript of type {index} expects a dimension of size {expected}, but dimension {dimension} of `{what}` ({ty}) \
         has another size"
    );
    error("E0324", subscript.span, message)
        .hint(format!("only a dimension declared as `[{index}]` is indexed by {index}"))
}

/// `(x).y` with a Real `x`
pub(crate) fn field_of_non_record(cx: &dyn Context, base: &Expr, name: &str, span: Span) -> Diagnostic {
    let (what, ty) = (describe(cx, base), type_name(cx, &base.ty));
    error("E0325", span, format!("`.{name}` expects a record, but `{what}` is {ty}"))
        .hint("only records have fields that can be taken from a value")
}

/// `r.z` where the record has only `x` and `y`
pub(crate) fn no_such_field(cx: &dyn Context, ty: &Type, name: &str, fields: &[String], span: Span) -> Diagnostic {
    let diagnostic = error("E0326", span, format!("the record {} has no field `{name}`", type_name(cx, ty)));
    match nearest(name, fields.iter().map(String::as_str)) {
        Some(field) => diagnostic.hint(format!("did you mean `{field}`?")).fix_by(field),
        None => diagnostic.hint(format!("its fields are {}", quoted(fields))),
    }
}

/// `Integer i = 1.5`
pub(crate) fn type_mismatch(cx: &dyn Context, place: Place, value: &Expr, target: &Type) -> Diagnostic {
    let (v, t) = (type_name(cx, &value.ty), type_name(cx, target));
    let diagnostic =
        error("E0327", value.span, format!("{} must be {t}, but `{}` is {v}", place.text(), describe(cx, value)));
    match conversion_hint(cx, &value.ty, target) {
        Some(hint) => diagnostic.hint(hint),
        None => diagnostic,
    }
}

/// How to get from one base type to another by hand.
fn conversion_hint(cx: &dyn Context, from: &Type, to: &Type) -> Option<String> {
    Some(match (from.base, to.base) {
        (BaseType::Real, BaseType::Integer) => {
            "a Real is not rounded by itself: `integer(x)` rounds down, `integer(x + 0.5)` to the nearest".to_string()
        }
        (BaseType::Boolean, BaseType::Real | BaseType::Integer) => {
            "convert a Boolean with `if b then 1 else 0`".to_string()
        }
        (BaseType::Real | BaseType::Integer, BaseType::Boolean) => {
            "write the comparison that is meant, such as `x > 0`".to_string()
        }
        (BaseType::Integer, BaseType::Enumeration(id)) => {
            let ty = cx.enum_type(id);
            let literal = ty
                .literals
                .first()
                .map_or(String::new(), |l| format!(", or write a literal such as `{}.{l}`", ty.name));
            format!("convert the ordinal number with `{}(i)`{literal}", ty.name)
        }
        (BaseType::Enumeration(_), BaseType::Integer | BaseType::Real) => {
            "get the ordinal number of an enumeration value with `Integer(e)`".to_string()
        }
        (BaseType::Enumeration(_), BaseType::Enumeration(_)) => {
            "two enumerations are one type only if they have the same literals in the same order".to_string()
        }
        (BaseType::String, _) => "text is not converted by itself; a function has to scan it".to_string(),
        (_, BaseType::String) => "turn the value into text with `String(…)`".to_string(),
        (BaseType::Record(a), BaseType::Record(b)) => record_difference(cx, &cx.record_type(a), &cx.record_type(b))?,
        (BaseType::Unit, _) => "this function returns nothing; it can only be called on its own".to_string(),
        (BaseType::Function, _) => "call the function with arguments in parentheses to get its result".to_string(),
        (_, BaseType::Clock) => "make a clock with `Clock(…)`".to_string(),
        _ => return None,
    })
}

/// The first field in which two records differ.
fn record_difference(cx: &dyn Context, from: &saltus_flat::RecordType, to: &saltus_flat::RecordType) -> Option<String> {
    for wanted in &to.fields {
        let Some(given) = from.fields.iter().find(|f| f.name == wanted.name) else {
            return Some(format!("`{}` has no field `{}`", from.name, wanted.name));
        };
        if given.ty != wanted.ty {
            let (g, w) = (type_name(cx, &given.ty), type_name(cx, &wanted.ty));
            return Some(format!("the field `{}` is {g} in `{}` but {w} in `{}`", wanted.name, from.name, to.name));
        }
    }
    let surplus = from.fields.iter().find(|f| to.fields.iter().all(|w| w.name != f.name))?;
    Some(format!("`{}` has no field `{}`", to.name, surplus.name))
}

/// `Real x[3] = {1, 2}`
pub(crate) fn size_mismatch(cx: &dyn Context, place: Place, value: &Expr, target: &Type) -> Diagnostic {
    let message = format!("{} must be {}, but it is {}", place.text(), type_name(cx, target), type_name(cx, &value.ty));
    let diagnostic = error("E0328", value.span, message);
    match value.ty.dims.iter().zip(&target.dims).position(|(a, b)| !a.fits(*b)) {
        Some(i) => {
            let (given, wanted) = (size_text(value.ty.dims[i]), size_text(target.dims[i]));
            diagnostic.hint(format!("dimension {} has size {given} instead of {wanted}", i + 1))
        }
        None => diagnostic.hint("the sizes of their fields differ"),
    }
}

/// `Real x[3] = 1`
pub(crate) fn rank_mismatch(cx: &dyn Context, place: Place, value: &Expr, target: &Type) -> Diagnostic {
    let (given, wanted) = (rank_text(value.ty.rank()), rank_text(target.rank()));
    let (v, t) = (type_name(cx, &value.ty), type_name(cx, target));
    let message = format!("{} must be a {wanted} ({t}), but it is a {given} ({v})", place.text());
    let diagnostic = error("E0329", value.span, message);
    let sizes: Vec<String> = target.dims.iter().map(|d| d.known().map_or("n".to_string(), |n| n.to_string())).collect();
    match (place, value.ty.rank(), target.rank()) {
        (Place::Attribute { attribute, .. }, 0, _) => {
            diagnostic.hint(format!("`each {attribute} = …` gives every element the same value"))
        }
        (_, 0, 1..) => {
            diagnostic.hint(format!("`fill(value, {})` gives every element the same value", sizes.join(", ")))
        }
        (_, 1.., 0) => diagnostic.hint("pick one element with a subscript, or `scalar(A)` if there is only one"),
        (_, 2, 1) => diagnostic.hint("a matrix with one row or column becomes a vector with `vector(A)`"),
        (_, 1, 2) => diagnostic.hint("`[v]` is the matrix with `v` as its only column"),
        _ => diagnostic.hint("the number of dimensions must agree"),
    }
}

/// `x = "a"` with a Real `x`
pub(crate) fn equation_types(cx: &dyn Context, left: &Expr, right: &Expr, span: Span) -> Diagnostic {
    let (l, r) = (type_name(cx, &left.ty), type_name(cx, &right.ty));
    let diagnostic = error(
        "E0330",
        span,
        format!("both sides of an equation must have one type, but the left is {l}, the right {r}"),
    );
    match conversion_hint(cx, &right.ty, &left.ty) {
        Some(hint) => diagnostic.hint(hint),
        None => diagnostic,
    }
}

/// `x = y` with `Real x[3], y[2]`
pub(crate) fn equation_sizes(cx: &dyn Context, left: &Expr, right: &Expr, span: Span) -> Diagnostic {
    let (l, r) = (type_name(cx, &left.ty), type_name(cx, &right.ty));
    let message = format!("both sides of an equation must have equal sizes, but the left is {l}, the right {r}");
    let diagnostic = error("E0331", span, message);
    match (left.ty.rank(), right.ty.rank()) {
        (0, 1..) | (1.., 0) => diagnostic.hint("`fill(value, n)` makes an array of equal elements"),
        (a, b) if a != b => diagnostic.hint(format!("a {} cannot equal a {}", rank_text(a), rank_text(b))),
        _ => match left.ty.dims.iter().zip(&right.ty.dims).position(|(a, b)| !a.fits(*b)) {
            Some(i) => diagnostic.hint(format!("the sizes differ in dimension {}", i + 1)),
            None => diagnostic.hint("the sizes of their fields differ"),
        },
    }
}

/// `(a, b, c) = f(x)` where `f` has two results
pub(crate) fn too_many_results_wanted(wanted: usize, available: usize, span: Span) -> Diagnostic {
    let (w, a) = (plural(wanted, "result"), plural(available, "result"));
    error("E0332", span, format!("the left-hand side takes {w}, but the call gives {a}"))
        .hint("results that are not wanted are left out, as in `(a, , c) = f(x)`")
}

/// `(a, b) = x + y`
pub(crate) fn tuple_needs_call(span: Span) -> Diagnostic {
    error("E0333", span, "several variables in parentheses expect a function call on the other side".to_string())
        .hint("write one equation for each variable, or call a function with several results")
}

/// `` `a`, `b`, `c` ``, shortened
pub(crate) fn quoted(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(8).map(|n| format!("`{n}`")).collect();
    let rest = if names.len() > 8 { ", …" } else { "" };
    format!("{}{rest}", shown.join(", "))
}

/// `(i, b) = f(x)` where a result of `f` does not fit its variable
pub(crate) fn result_type(cx: &dyn Context, place: Place, result: &Expr, target: &Type) -> Diagnostic {
    let (r, t) = (type_name(cx, &result.ty), type_name(cx, target));
    let diagnostic = error("E0327", result.span, format!("{} must be {t}, but this result is {r}", place.text()));
    match conversion_hint(cx, &result.ty, target) {
        Some(hint) => diagnostic.hint(hint),
        None => diagnostic,
    }
}

/// An array of records in a function whose record type differs from the one wanted
pub(crate) fn elements_cannot_be_converted(cx: &dyn Context, value: &Expr, wanted: BaseType) -> Diagnostic {
    let (v, w) = (type_name(cx, &value.ty), type_name(cx, &Type::array(wanted, value.ty.dims.clone())));
    error("E0359", value.span, format!("the elements of this array cannot be converted from {v} to {w} here"))
        .hint("declare both with the same element type, or convert element by element with `{… for i in …}`")
}
