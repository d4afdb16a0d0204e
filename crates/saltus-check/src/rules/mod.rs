//! One rule a file: what it looks for, how it says so, and tests.

pub mod attributes;
pub mod derivative;
pub mod discrete;
pub mod if_equation;
pub mod literals;
pub mod no_event;
pub mod pre;
pub mod reinit;
pub mod single_assignment;
pub mod unassigned;
pub mod unconnected;
pub mod unused;
pub mod when_clause;

/// Runs one rule on a model.
#[cfg(test)]
pub fn run(
    rule: fn(crate::facts::Context<'_>, &mut saltus_base::Diagnostics),
) -> impl Fn(&saltus_flat::FlatModel) -> saltus_base::Diagnostics {
    move |model| {
        let facts = crate::facts::Facts::gather(model);
        let mut out = saltus_base::Diagnostics::new();
        rule(crate::facts::Context { model, facts: &facts }, &mut out);
        out
    }
}
