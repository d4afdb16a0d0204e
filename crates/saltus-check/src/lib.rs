//! Checks on a complete [`FlatModel`] that need no syntax: what a model that is well typed can still get wrong.
//!
//! ```text
//! Boolean close;                          error[E0401]: `close` is assigned in two when-clauses
//! equation
//!   when open then close = false; end when;
//!   when full then close = true; end when;
//! ```
//!
//! [`check`] runs every rule; [`check_balance`] is separate because flattening warns about what a simulation cannot
//! accept. Each rule is a file in `rules` with its wording and tests; [`diagnostics`] lists the codes. The cost is
//! linear in the size of the model, but for the matching, which is near it.
//!
//! Ids in the model must be in range (`saltus_flat::verify`); nothing else is assumed.

mod balance;
pub mod diagnostics;
mod facts;
mod rules;
mod targets;
#[cfg(test)]
mod testing;
mod text;
pub mod units;
mod variability;
mod walk;

use saltus_base::{Diagnostics, Severity};
use saltus_flat::FlatModel;

use facts::{Context, Facts};

pub use balance::check_balance;

/// Runs all checks. Errors come first, then the balance, then what is merely suspicious.
pub fn check(model: &FlatModel) -> Diagnostics {
    let mut out = check_equations(model);
    out.extend(check_balance(model, Severity::Error));
    out.extend(check_style(model));
    out
}

/// The rules of the specification about equations, algorithms and variability, without the balance.
pub fn check_equations(model: &FlatModel) -> Diagnostics {
    let facts = Facts::gather(model);
    let cx = Context { model, facts: &facts };
    let mut out = Diagnostics::new();
    rules::single_assignment::check(cx, &mut out);
    rules::no_event::check(cx, &mut out);
    rules::discrete::check(cx, &mut out);
    rules::pre::check(cx, &mut out);
    rules::derivative::check(cx, &mut out);
    rules::reinit::check(cx, &mut out);
    rules::when_clause::check(cx, &mut out);
    rules::if_equation::check(cx, &mut out);
    out
}

/// Units, attributes, literals and unused things: warnings and hints.
pub fn check_style(model: &FlatModel) -> Diagnostics {
    let facts = Facts::gather(model);
    let cx = Context { model, facts: &facts };
    let mut out = Diagnostics::new();
    rules::attributes::check(cx, &mut out);
    rules::literals::check(cx, &mut out);
    out.extend(units::check(model));
    rules::unused::check(cx, &mut out);
    out
}
