//! Functions of numbers that procedures call because they are rare, long or both.
//!
//! Each is what the interpreter of procedures does, so that both have the same bits.

use saltus_program::BinaryFn;
use saltus_runtime::native::procedure::Binary;

/// Name of the function that copies scalars ([`crate::machine_procedures`]).
pub(crate) const COPY: &str = "saltus_copy";

macro_rules! helpers {
    ($($helper:ident($($x:ident),*) = $value:expr,)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Helper { $($helper,)* }

        #[allow(non_snake_case)]
        mod wrappers {
            use super::*;
            $(pub extern "C" fn $helper($($x: f64),*) -> f64 { $value })*
        }

        /// Name, address and number of arguments of each helper.
        pub(crate) const HELPERS: &[(&str, *const u8, usize)] =
            &[$((concat!("saltus_", stringify!($helper)), wrappers::$helper as *const u8, [$(stringify!($x)),*].len()),)*];
    };
}

helpers! {
    Acosh(x) = x.acosh(),
    Cbrt(x) = x.cbrt(),
    Fmod(a, b) = a % b,
    Hypot(a, b) = a.hypot(b),
    QuotientIsDefined(a, b) = f64::from(u8::from(Binary::DivInteger.apply(a, b).is_some())),
    DivInteger(a, b) = Binary::DivInteger.apply(a, b).unwrap_or(f64::NAN),
    ModInteger(a, b) = Binary::ModInteger.apply(a, b).unwrap_or(f64::NAN),
    RemInteger(a, b) = Binary::RemInteger.apply(a, b).unwrap_or(f64::NAN),
    PowerIsDefined(a, b) = f64::from(u8::from(Binary::Function(BinaryFn::Pow).apply(a, b).is_some())),
    Power(a, b) = Binary::Function(BinaryFn::Pow).apply(a, b).unwrap_or(f64::NAN),
}
