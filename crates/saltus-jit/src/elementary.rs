//! Elementary functions that machine code calls.
//!
//! Each wrapper is the meaning that `saltus_program` defines, so that compiled and interpreted results have the same bits.

use saltus_program::{BinaryFn, UnaryFn};

macro_rules! unary {
    ($($wrapper:ident = $function:ident,)*) => {
        $(extern "C" fn $wrapper(x: f64) -> f64 {
            UnaryFn::$function.apply(x)
        })*

        /// Name and address of each wrapper of one argument.
        pub(crate) const UNARY: &[(UnaryFn, &str, extern "C" fn(f64) -> f64)] =
            &[$((UnaryFn::$function, concat!("saltus_", stringify!($wrapper)), $wrapper),)*];
    };
}

macro_rules! binary {
    ($($wrapper:ident = $function:ident,)*) => {
        $(extern "C" fn $wrapper(a: f64, b: f64) -> f64 {
            BinaryFn::$function.apply(a, b)
        })*

        /// Name and address of each wrapper of two arguments.
        pub(crate) const BINARY: &[(BinaryFn, &str, extern "C" fn(f64, f64) -> f64)] =
            &[$((BinaryFn::$function, concat!("saltus_", stringify!($wrapper)), $wrapper),)*];
    };
}

unary! {
    sin = Sin,
    cos = Cos,
    tan = Tan,
    asin = Asin,
    acos = Acos,
    atan = Atan,
    sinh = Sinh,
    cosh = Cosh,
    tanh = Tanh,
    exp = Exp,
    log = Log,
    log10 = Log10,
    asinh = Asinh,
    atanh = Atanh,
}

binary! {
    pow = Pow,
    atan2 = Atan2,
}

/// Position in [`UNARY`] of a function that is called rather than written out.
pub(crate) fn find_unary(function: UnaryFn) -> Option<usize> {
    UNARY.iter().position(|entry| entry.0 == function)
}

/// Position in [`BINARY`] of a function that is called rather than written out.
pub(crate) fn find_binary(function: BinaryFn) -> Option<usize> {
    BINARY.iter().position(|entry| entry.0 == function)
}
