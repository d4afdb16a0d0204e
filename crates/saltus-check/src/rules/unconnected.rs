//! Hints about connectors of components that the model leaves unconnected.
//!
//! ```text
//! Resistor r; … connect(source.p, r.p);      hint: `r.n` is not connected, nothing flows through it
//! ```
//!
//! The connection pass writes `r.n.i = 0` for them. Only the components of the model itself are looked at: what a
//! library leaves open inside is its own decision, and connectors of the model are for its users.

use std::collections::BTreeSet;

use saltus_base::{Diagnostic, Diagnostics};
use saltus_flat::count::component_of;
use saltus_flat::{EquationKind, Expr, ExprKind, Origin, Prefix, UnaryOp, Variable};

use crate::diagnostics as codes;
use crate::facts::Context;

/// More hints than this are noise.
const MOST: usize = 50;

pub fn check(cx: Context<'_>, out: &mut Diagnostics) {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for equation in &cx.model.equations {
        if equation.origin != Origin::Connection || !equation.component.is_empty() {
            continue;
        }
        let EquationKind::Equality { left, right } = &equation.kind else { continue };
        let Some(variable) = zero_flow(cx, left, right).or_else(|| zero_flow(cx, right, left)) else { continue };
        let connector = component_of(&variable.name);
        let owner = component_of(connector);
        let is_of_component = !owner.is_empty() && component_of(owner).is_empty();
        if is_of_component && seen.len() < MOST && seen.insert(connector) {
            out.push(unconnected(variable, connector));
        }
    }
}

/// The flow variable of `x = 0` or `-x = 0`.
fn zero_flow<'a>(cx: Context<'a>, side: &Expr, other: &Expr) -> Option<&'a Variable> {
    let is_zero = match other.kind {
        ExprKind::Real(value) => value == 0.0,
        ExprKind::Integer(value) => value == 0,
        _ => false,
    };
    let inner = match &side.kind {
        ExprKind::Unary(UnaryOp::Negate, inner) => inner,
        _ => side,
    };
    match inner.kind {
        ExprKind::Var(id) if is_zero => cx.model.variables.get(id).filter(|v| v.prefix == Prefix::Flow),
        _ => None,
    }
}

fn unconnected(variable: &Variable, connector: &str) -> Diagnostic {
    Diagnostic::new(
        codes::UNCONNECTED,
        variable.span,
        format!("`{connector}` is not connected, so `{}` is zero", variable.name),
    )
    .hint(format!("connect it if it should be: `connect({connector}, …)`"))
}

#[cfg(test)]
mod tests {
    use crate::rules::run;
    use crate::testing::expect;

    #[test]
    fn a_pin_that_is_left_open() {
        expect(
            run(super::check),
            "flow Real r.p.i, r.n.i, p.i, c.r.p.i;
equation
  @connect r.p.i + p.i = 0;
  @connect r.n.i = 0;
  @connect p.i = 0;
  @c @connect c.r.p.i = 0;",
            "
H0735 1:18 `r.n.i`: `r.n` is not connected, so `r.n.i` is zero
  hint: connect it if it should be: `connect(r.n, …)`",
        );
    }
}
