//! Messages about calls of built-in functions and reductions, word by word.

use crate::testing::{check_function, check_model};

#[test]
fn argument_lists() {
    check_model(&[
        ("sin(1, 2)", "E0335: `sin` takes at most 1 argument, but got 2 | its arguments are `x`"),
        ("initial(1)", "E0335: `initial` takes at most 0 arguments, but got 1 | write `initial()`"),
        ("atan2(1)", "E0336: argument 2 (`x`) of `atan2` is missing | the call reads `atan2(y, x)`"),
        (
            "homotopy(actual = 1, simple = 2)",
            "E0337: `homotopy` has no argument named `simple` | its arguments are `actual`, `simplified`",
        ),
        (
            "homotopy(actal = 1, simplified = 2)",
            "E0337: `homotopy` has no argument named `actal` | did you mean `actual`?",
        ),
        ("zeros(n = 3)", "E0337: `zeros` has no argument named `n` | it takes positional arguments only"),
        (
            "homotopy(1, 2, actual = 3)",
            "E0338: argument `actual` of `homotopy` is given twice | give an argument either by position or by name",
        ),
        (
            "sin(x = 1, x = 2)",
            "E0338: argument `x` of `sin` is given twice | give an argument either by position or by name",
        ),
        (
            "String(x, 3)",
            "E0339: `String` takes one positional argument; all others must be named | the named arguments are \
             `significantDigits`, `minimumLength`, `leftJustified`, `format`",
        ),
        ("Clock(1.5, 2)", "E0335: `Clock` takes at most 1 argument, but got 2 | its arguments are `interval`"),
        (
            "shiftSample(x)",
            "E0336: argument 2 (`shiftCounter`) of `shiftSample` is missing | the call reads `shiftSample(u, \
             shiftCounter, resolution)`",
        ),
        (
            "Connections.root(x, y)",
            "E0335: `Connections.root` takes at most 1 argument, but got 2 | its arguments are `R`",
        ),
        ("noEvent()", "E0336: argument 1 (`expr`) of `noEvent` is missing | the call reads `noEvent(expr)`"),
    ]);
}

#[test]
fn argument_types() {
    check_model(&[
        (
            "String(s)",
            "E0340: argument 1 (`value`) of `String` must be a Real, Integer, Boolean or enumeration scalar, but it \
             is String | the value is a String already",
        ),
        (
            "String(v)",
            "E0340: argument 1 (`value`) of `String` must be a Real, Integer, Boolean or enumeration scalar, but it \
             is Real[3] | convert each element: `{String(a[i]) for i in 1:size(a, 1)}`",
        ),
        (
            "String(b, format = \"g\")",
            "E0340: argument 1 (`value`) of `String` must be Real or Integer where `format` is given, but it is \
             Boolean | convert a Boolean with `if b then 1 else 0`",
        ),
        (
            "String(x, minimumLength = 1.5)",
            "E0327: argument 3 (`minimumLength`) of `String` must be Integer, but `1.5` is Real | a Real is not \
             rounded by itself: `integer(x)` rounds down, `integer(x + 0.5)` to the nearest",
        ),
        (
            "sin(s)",
            "E0340: argument 1 (`x`) of `sin` must be Real, but it is String | text is not converted to a number by \
             itself",
        ),
        (
            "sin(b)",
            "E0340: argument 1 (`x`) of `sin` must be Real, but it is Boolean | convert a Boolean with `if b then 1 \
             else 0`",
        ),
        (
            "sin(e)",
            "E0340: argument 1 (`x`) of `sin` must be Real, but it is E | get the ordinal number of an enumeration \
             value with `Integer(e)`",
        ),
        (
            "der(i)",
            "E0340: argument 1 (`expr`) of `der` must be Real, but it is Integer | only Real variables have a \
             derivative; declare it as Real",
        ),
        (
            "der(b)",
            "E0340: argument 1 (`expr`) of `der` must be Real, but it is Boolean | a discrete variable has no \
             derivative; `edge(b)` and `change(v)` tell when it changes",
        ),
        (
            "der(s)",
            "E0340: argument 1 (`expr`) of `der` must be Real, but it is String | text is not converted to a number \
             by itself",
        ),
        (
            "edge(i)",
            "E0340: argument 1 (`b`) of `edge` must be Boolean, but it is Integer | `change(v)` works for every \
             discrete variable",
        ),
        (
            "Integer(x)",
            "E0340: argument 1 (`e`) of `Integer` must be an enumeration value, but it is Real | `integer(x)` rounds \
             a Real down to an Integer",
        ),
        (
            "Integer(i)",
            "E0340: argument 1 (`e`) of `Integer` must be an enumeration value, but it is Integer | the value is an \
             Integer already",
        ),
        (
            "E(1.5)",
            "E0327: argument 1 (`i`) of `E` must be Integer, but `1.5` is Real | a Real is not rounded by itself: \
             `integer(x)` rounds down, `integer(x + 0.5)` to the nearest",
        ),
        (
            "zeros(1.5)",
            "E0340: argument 1 (`n`) of `zeros` must be a scalar Integer, but it is Real | a Real is not rounded by \
             itself: `integer(x)` rounds down",
        ),
        (
            "size(A, 1.5)",
            "E0340: argument 2 (`i`) of `size` must be a scalar Integer, but it is Real | a Real is not rounded by \
             itself: `integer(x)` rounds down",
        ),
        (
            "reinit(i, 0)",
            "E0340: argument 1 (`x`) of `reinit` must be a Real variable, but it is Integer | only states, which are \
             Real, can be reinitialized; assign others in a `when`",
        ),
        (
            "reinit(v, w)",
            "E0328: argument 2 (`expr`) of `reinit` must be Real[3], but it is Real[2] | dimension 1 has size 2 \
             instead of 3",
        ),
        (
            "sample(s, 1)",
            "E0327: argument 1 (`start`) of `sample` must be Real, but `s` is String | text is not converted by \
             itself; a function has to scan it",
        ),
        (
            "smooth(1.5, x)",
            "E0340: argument 1 (`p`) of `smooth` must be a scalar Integer, but it is Real | a Real is not rounded by \
             itself: `integer(x)` rounds down",
        ),
        (
            "smooth(0, b)",
            "E0340: argument 2 (`expr`) of `smooth` must be Real, or a record of Real, but it is Boolean | convert a \
             Boolean with `if b then 1 else 0`",
        ),
        (
            "previous(c)",
            "E0340: argument 1 (`u`) of `previous` must be a clocked variable, not a clock, but it is Clock | a clock \
             tells when; its time between ticks is `interval(c)`",
        ),
        (
            "sample(c)",
            "E0340: argument 1 (`u`) of `sample` must be a value, not a clock, but it is Clock | a clock tells when; \
             its time between ticks is `interval(c)`",
        ),
        (
            "cross(w, v)",
            "E0340: argument 1 (`x`) of `cross` must be a Real vector of size 3, but it is Real[2] | a vector in \
             the plane becomes one in space as `{a[1], a[2], 0}`",
        ),
        ("cross(x, v)", "E0340: argument 1 (`x`) of `cross` must be a Real vector of size 3, but it is Real"),
        (
            "skew(A)",
            "E0340: argument 1 (`x`) of `skew` must be a Real vector of size 3, but it is Real[3, 3] | `vector(A)` \
             makes a vector of an array with one long dimension",
        ),
        (
            "diagonal(s)",
            "E0340: argument 1 (`v`) of `diagonal` must be a numeric vector, but it is String | text is not converted \
             to a number by itself",
        ),
        (
            "outerProduct(A, v)",
            "E0340: argument 1 (`x`) of `outerProduct` must be a Real vector, but it is Real[3, 3] | `vector(A)` \
             makes a vector of an array with one long dimension",
        ),
        (
            "sum(b)",
            "E0340: argument 1 (`A`) of `sum` must be Real or Integer, but it is Boolean | convert a Boolean with `if \
             b then 1 else 0`",
        ),
        (
            "min(x, s)",
            "E0340: argument 2 (`y`) of `min` must be Real, but it is String | text is not converted to a number by \
             itself",
        ),
        (
            "max(s)",
            "E0340: argument 1 (`A`) of `max` must be Real, Integer, Boolean or an enumeration, but it is String | \
             text is not converted to a number by itself",
        ),
        (
            "assert(x, \"m\")",
            "E0312: the condition of `assert` must be a scalar Boolean, but it is Real | write the comparison that is \
             meant, such as `x > 0`",
        ),
        (
            "assert(b, 1)",
            "E0327: argument 2 (`message`) of `assert` must be String, but `1` is Integer | turn the value into text \
             with `String(…)`",
        ),
        (
            "assert(b, \"m\", 1)",
            "E0340: argument 3 (`level`) of `assert` must be AssertionLevel.warning or AssertionLevel.error, but it \
             is Integer",
        ),
        (
            "terminate(1)",
            "E0327: argument 1 (`message`) of `terminate` must be String, but `1` is Integer | turn the value into \
             text with `String(…)`",
        ),
        (
            "spatialDistribution(x, y, x, 1)",
            "E0327: argument 4 (`positiveVelocity`) of `spatialDistribution` must be Boolean, but `1` is Integer | \
             write the comparison that is meant, such as `x > 0`",
        ),
        (
            "spatialDistribution(x, y, x, b, x)",
            "E0329: argument 5 (`initialPoints`) of `spatialDistribution` must be a vector (Real[:]), but it is a \
             scalar (Real) | `fill(value, n)` gives every element the same value",
        ),
        (
            "transition(x, y, 1)",
            "E0327: argument 3 (`condition`) of `transition` must be Boolean, but `1` is Integer | write the \
             comparison that is meant, such as `x > 0`",
        ),
        (
            "delay(s, 1)",
            "E0340: argument 1 (`expr`) of `delay` must be Real, Integer, Boolean or an enumeration, but it is String \
             | text is not converted to a number by itself",
        ),
        (
            "Connections.potentialRoot(x, priority = 1.5)",
            "E0327: argument 2 (`priority`) of `Connections.potentialRoot` must be Integer, but `1.5` is Real | a \
             Real is not rounded by itself: `integer(x)` rounds down, `integer(x + 0.5)` to the nearest",
        ),
        (
            "mod(s, 1)",
            "E0340: argument 1 (`x`) of `mod` must be Real or Integer, but it is String | text is not converted to a \
             number by itself",
        ),
        (
            "linspace(v, 1, 3)",
            "E0329: argument 1 (`x1`) of `linspace` must be a scalar (Real), but it is a vector (Real[3]) | pick one \
             element with a subscript, or `scalar(A)` if there is only one",
        ),
        ("inStream(i)", "E0340: argument 1 (`v`) of `inStream` must be Real, but it is Integer"),
    ]);
}

#[test]
fn argument_sizes() {
    check_model(&[
        (
            "atan2(v, w)",
            "E0341: array arguments of `atan2` must have equal sizes, but argument 1 is Real[3] and argument 2 is \
             Real[2] | the function is applied to every element; scalars go with all elements, arrays must match",
        ),
        (
            "zeros(i)",
            "E0343: a size given to `zeros` must be known at compile time, but `i` is not | use literals, constants, \
             parameters with a value, or `size(…)` of an array",
        ),
        (
            "zeros(free)",
            "E0343: a size given to `zeros` must be known at compile time, but `free` is not | use literals, \
             constants, parameters with a value, or `size(…)` of an array",
        ),
        (
            "zeros(-1)",
            "E0344: a size given to `zeros` must be at least 0, but it is -1 | an empty dimension has size 0",
        ),
        (
            "linspace(0, 1, 1)",
            "E0344: a size given to `linspace` must be at least 2, but it is 1 | `linspace` includes both ends; for \
             one element write `{x1}`",
        ),
        (
            "size(v, 2)",
            "E0345: `size` asks for dimension 2 of Real[3], which does not exist | a vector has only dimension 1",
        ),
        ("size(x, 1)", "E0345: `size` asks for dimension 1 of Real, which does not exist | a scalar has no dimensions"),
        (
            "size(A, 0)",
            "E0345: `size` asks for dimension 0 of Real[3, 3], which does not exist | dimensions count from 1 to 2",
        ),
        (
            "cat(2, v, v)",
            "E0345: `cat` asks for dimension 2 of Real[3], which does not exist | a vector has only dimension 1",
        ),
        (
            "cat(i, v, v)",
            "E0343: the dimension given to `cat` must be known at compile time, but `i` is not | use literals, \
             constants, parameters with a value, or `size(…)` of an array",
        ),
        (
            "scalar(v)",
            "E0351: the argument of `scalar` must have exactly one element, but it is Real[3] | pick one element with \
             a subscript",
        ),
        (
            "vector(A)",
            "E0351: the argument of `vector` must have at most one size above 1, but it is Real[3, 3] | pick a row or \
             column, as in `A[1, :]`",
        ),
        (
            "matrix(T)",
            "E0351: the argument of `matrix` must have size 1 in every dimension after the second, but it is Real[2, \
             2, 2] | reduce the array with subscripts first",
        ),
        (
            "symmetric(B)",
            "E0351: the argument of `symmetric` must have as many rows as columns, but it is Real[2, 3] | only a \
             square matrix can be symmetric",
        ),
        (
            "transpose(v)",
            "E0351: the argument of `transpose` must have at least two dimensions, but it is Real[3] | `[v]` is the \
             matrix with `v` as its only column, `transpose([v])` the one with `v` as its only row",
        ),
        (
            "min(v, w)",
            "E0341: array arguments of `min` must have equal sizes, but argument 1 is Real[3] and argument 2 is \
             Real[2] | the function is applied to every element; scalars go with all elements, arrays must match",
        ),
        (
            "promote(v, i)",
            "E0343: the number of dimensions given to `promote` must be known at compile time, but `i` is not | use \
             literals, constants, parameters with a value, or `size(…)` of an array",
        ),
        (
            "spatialDistribution(x, y, x, b, {0, 1}, {0, 0.5, 1})",
            "E0341: array arguments of `spatialDistribution` must have equal sizes, but argument 5 is Real[2] and \
             argument 6 is Real[3] | every initial point needs one initial value",
        ),
    ]);
}

#[test]
fn argument_values() {
    check_model(&[
        (
            "String(1, significantDigits = 3)",
            "E0354: `significantDigits` is for Real values, but the value is Integer | leave it out; `minimumLength` \
             and `leftJustified` work for every type",
        ),
        (
            "String(x, format = \"g\", minimumLength = 3)",
            "E0355: `format` of `String` cannot be combined with `minimumLength` | the format text says it all, as in \
             `format = \"10.3f\"`",
        ),
        (
            "der(d)",
            "E0347: `der` expects a continuous-time expression, but `d` changes only at events | remove `discrete` \
             from the declaration, or compute a difference with `pre`",
        ),
        ("E(4)", "E0349: `E` has no literal with the ordinal 4 | its ordinals go from 1 to 3"),
        ("E(0)", "E0349: `E` has no literal with the ordinal 0 | its ordinals go from 1 to 3"),
        (
            "pre(x + 1)",
            "E0346: `pre` expects a variable, but `x + 1.0` is an expression | give the expression a name, as in \
             `Boolean b = …`, and write `pre(b)`; inside an expression apply `pre` to each variable",
        ),
        (
            "edge(x > 0)",
            "E0346: `edge` expects a variable, but `x > 0.0` is an expression | give the expression a name, as in \
             `Boolean b = …`, and write `edge(b)`; inside an expression apply `pre` to each variable",
        ),
        (
            "previous(2 * x)",
            "E0346: `previous` expects a variable, but `2.0 * x` is an expression | declare a variable that equals \
             the expression and use that",
        ),
        (
            "reinit(x + 1, 0)",
            "E0346: `reinit` expects a variable, but `x + 1.0` is an expression | declare a variable that equals the \
             expression and use that",
        ),
        (
            "sample(x, 1)",
            "E0348: argument `start` of `sample` must be a parameter expression, but `x` is continuous-time | use \
             literals, constants and parameters only",
        ),
        (
            "smooth(i, x)",
            "E0348: argument `p` of `smooth` must be a parameter expression, but `i` is discrete-time | use literals, \
             constants and parameters only",
        ),
        (
            "smooth(-1, x)",
            "E0356: argument `p` of `smooth` must be at least 0, but it is -1 | 0 stands for continuous, 1 for \
             continuously differentiable",
        ),
        (
            "Clock(s)",
            "E0350: no clock can be made from String | `Clock()`, `Clock(intervalCounter, resolution)`, \
             `Clock(interval)`, `Clock(condition, startInterval)` and `Clock(c, solverMethod)` exist",
        ),
        (
            "Clock(1, 0)",
            "E0356: argument `resolution` of `Clock` must be at least 1, but it is 0 | it counts ticks or parts of an \
             interval",
        ),
        (
            "subSample(x, i)",
            "E0348: argument `factor` of `subSample` must be a parameter expression, but `i` is discrete-time | use \
             literals, constants and parameters only",
        ),
        (
            "subSample(x, -1)",
            "E0356: argument `factor` of `subSample` must be at least 0, but it is -1 | leave it out to have the \
             factor inferred",
        ),
        (
            "Clock(x, solverMethod = \"ImplicitEuler\")",
            "E0337: `solverMethod` is associated with a clock: the first argument of this `Clock` is not one | write a clock \
             in the place of the interval: `Clock(Clock(0.1), solverMethod = \"ExplicitEuler\")`",
        ),
        (
            "backSample(2 * x, 1)",
            "E0346: `backSample` expects a variable, but `2.0 * x` is an expression | declare a variable that equals the \
             expression and use that",
        ),
        (
            "hold(2 * x)",
            "E0346: `hold` expects a variable, but `2.0 * x` is an expression | declare a variable that equals the \
             expression and use that",
        ),
        (
            "promote(A, 1)",
            "E0356: argument `n` of `promote` must be at least 2, but it is 1 | `promote` appends dimensions; to drop \
             some use subscripts, `vector` or `scalar`",
        ),
        (
            "promote(v, 100)",
            "E0358: argument `n` of `promote` must be at most 32, but it is 100 | the second argument of `promote` is \
             the number of dimensions, not a size",
        ),
        (
            "transition(x, y, b, priority = 0)",
            "E0356: argument `priority` of `transition` must be at least 1, but it is 0 | 1 is tried first; every \
             transition of a state needs its own priority",
        ),
        (
            "transition(x, y, b, immediate = b)",
            "E0348: argument `immediate` of `transition` must be a parameter expression, but `b` is discrete-time | \
             use literals, constants and parameters only",
        ),
        (
            "delay(x, y)",
            "E0348: argument `delayTime` of `delay` must be a parameter expression, but `y` is continuous-time | with \
             a varying delay give its upper bound: `delay(expr, delayTime, delayMax)`",
        ),
    ]);
}

#[test]
fn reductions_and_minima() {
    check_model(&[
        (
            "sum(b for j in 1:3)",
            "E0353: `sum` reduces Real or Integer values, but its body is Boolean | to count, sum `if b then 1 else \
             0`; all and any are `min` and `max`",
        ),
        (
            "product(v for j in 1:3)",
            "E0353: `product` reduces scalar Real or Integer values, but its body is Real[3] | reduce the inner array \
             too, as in `product(product(…) for …)`",
        ),
        (
            "max(v for j in 1:3)",
            "E0353: `max` reduces scalar Real, Integer, Boolean or enumeration values, but its body is Real[3] | \
             reduce the inner array too, as in `max(max(…) for …)`",
        ),
        ("{j for j in 3}", "E0352: an iterator runs over a vector, but `3` is Integer | to count write `1:n`"),
        (
            "{j for j in A}",
            "E0352: an iterator runs over a vector, but `A` is Real[3, 3] | as in `for i in 1:n` or `for x in {1.5, \
             2.5}`",
        ),
        (
            "min(x)",
            "E0357: `min` with one argument expects an array, but it is a scalar | write `min(x, y)` or `min({x, y, \
             z})`",
        ),
    ]);
}

#[test]
fn functions() {
    check_function(&[
        (
            "der(x)",
            "E0342: `der` is not allowed inside a function | a function computes with its inputs only; pass the value \
             as an argument",
        ),
        (
            "pre(x)",
            "E0342: `pre` is not allowed inside a function | a function computes with its inputs only; pass the value \
             as an argument",
        ),
        (
            "initial()",
            "E0342: `initial` is not allowed inside a function | a function computes with its inputs only; pass the \
             value as an argument",
        ),
        (
            "Clock()",
            "E0342: `Clock` is not allowed inside a function | a function computes with its inputs only; pass the \
             value as an argument",
        ),
        (
            "size(u, 2)",
            "E0345: `size` asks for dimension 2 of Real[:], which does not exist | a vector has only dimension 1",
        ),
        (
            "sample(0, 1)",
            "E0342: `sample` is not allowed inside a function | a function computes with its inputs only; pass the \
             value as an argument",
        ),
    ]);
}
