//! Hints about connectors of components that the model leaves unconnected.
//!
//! ```text
//! Resistor r; … connect(source.p, r.p);      hint: `r.n` is not connected, nothing flows through it
//! ```
//!
//! The connection pass writes `r.n.i = 0` for them. Only the components of the model itself are looked at: what a
//! library leaves open inside is its own decision, and connectors of the model are for its users.

use std::collections::{BTreeSet, HashMap};

use saltus_base::{Diagnostic, Diagnostics};
use saltus_flat::count::component_of;
use saltus_flat::element::{n_outer_dimensions, subscripted_name};
use saltus_flat::family::{self, Counter, affine};
use saltus_flat::{Builtin, EquationKind, Expr, ExprKind, Origin, Prefix, Subscript, UnaryOp, VarId, Variable};

use crate::diagnostics as codes;
use crate::facts::Context;

/// More hints than this are noise.
const MOST: usize = 50;

pub fn check(cx: Context<'_>, out: &mut Diagnostics) {
    let mut open: Vec<Open> = Vec::new();
    for equation in &cx.model.equations {
        if equation.origin != Origin::Connection || !equation.component.is_empty() {
            continue;
        }
        let EquationKind::Equality { left, right } = &equation.kind else { continue };
        zero_flows(cx, left, right, &mut open);
        zero_flows(cx, right, left, &mut open);
    }
    if open.iter().any(|flow| !flow.subscripts.is_empty()) {
        by_element(&mut open);
    }
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for flow in &open {
        let name = subscripted_name(&flow.variable.name, &flow.subscripts);
        let connector = component_of(&name);
        if seen.len() < MOST && seen.insert(connector.to_owned()) {
            out.push(unconnected(flow.variable, &name, connector));
        }
    }
}

/// A flow variable that is zero, or that of one of the alike components in an array.
struct Open<'a> {
    id: VarId,
    variable: &'a Variable,
    subscripts: Vec<u64>,
}

/// The flow variables of components in `x = 0` or `-x = 0`, also for elements of an array of components.
fn zero_flows<'a>(cx: Context<'a>, side: &Expr, other: &Expr, open: &mut Vec<Open<'a>>) {
    let (counters, side, other) = match family::read(side, other) {
        Some((counters, body)) => (counters, body.left, body.right),
        None => (Vec::new(), side, other),
    };
    let inner = match &side.kind {
        ExprKind::Unary(UnaryOp::Negate, inner) => inner,
        _ => side,
    };
    let (whole, subscripts) = match &inner.kind {
        ExprKind::Index { base, subscripts } => (&**base, &subscripts[..]),
        _ => (inner, &[][..]),
    };
    let ExprKind::Var(id) = whole.kind else { return };
    let Some(variable) = cx.model.variables.get(id).filter(|v| v.prefix == Prefix::Flow) else { return };
    let owner = component_of(component_of(&variable.name));
    let is_of_component = !owner.is_empty() && component_of(owner).is_empty();
    // Flow variables that are arrays themselves are left to their connectors.
    if !is_of_component || !is_zero(other) || n_outer_dimensions(&variable.name) != variable.ty.rank() {
        return;
    }
    for subscripts in elements(variable, subscripts, &counters) {
        open.push(Open { id, variable, subscripts });
    }
}

fn is_zero(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Real(value) => *value == 0.0,
        ExprKind::Integer(value) => *value == 0,
        ExprKind::Builtin { function: Builtin::Fill, arguments } => arguments.first().is_some_and(is_zero),
        _ => false,
    }
}

/// The subscripts of the elements that are meant, as many as are shown: all of a variable without subscripts.
fn elements(variable: &Variable, subscripts: &[Subscript], counters: &[Counter]) -> Vec<Vec<u64>> {
    let sizes: Vec<u64> = match subscripts {
        [] => variable.ty.dims.iter().map(|d| d.known().unwrap_or(0)).collect(),
        _ => counters.iter().map(|c| c.n).collect(),
    };
    let forms: Option<Vec<_>> = subscripts
        .iter()
        .map(|subscript| match subscript {
            Subscript::Index(e) => affine(e, counters, &mut |_| None),
            _ => None,
        })
        .collect();
    let Some(forms) = forms else { return Vec::new() };
    let n = sizes.iter().product::<u64>().min(MOST as u64);
    (0..n)
        .map(|k| {
            let at = unravel(k, &sizes);
            let value = |form: &family::Affine| {
                let terms = form.factors.iter().zip(counters).zip(&at);
                let moved: i64 = terms.map(|((factor, c), &k)| factor * (c.first + c.step * k as i64)).sum();
                (form.constant + moved) as u64
            };
            if subscripts.is_empty() { at.iter().map(|k| k + 1).collect() } else { forms.iter().map(value).collect() }
        })
        .collect()
}

fn unravel(mut position: u64, sizes: &[u64]) -> Vec<u64> {
    let mut at = vec![0; sizes.len()];
    for (k, &size) in at.iter_mut().zip(sizes).rev() {
        *k = position % size.max(1);
        position /= size.max(1);
    }
    at
}

/// Element after element, as if each had variables of its own.
fn by_element(open: &mut [Open<'_>]) {
    let mut first: HashMap<&str, VarId> = HashMap::new();
    for flow in open.iter() {
        let at = first.entry(component_of(component_of(&flow.variable.name))).or_insert(flow.id);
        *at = flow.id.min(*at);
    }
    let key = |flow: &Open| {
        let owner = component_of(component_of(&flow.variable.name));
        (first[owner], flow.subscripts.clone(), flow.id)
    };
    open.sort_by_cached_key(key);
}

fn unconnected(variable: &Variable, name: &str, connector: &str) -> Diagnostic {
    Diagnostic::new(codes::UNCONNECTED, variable.span, format!("`{connector}` is not connected, so `{name}` is zero"))
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
