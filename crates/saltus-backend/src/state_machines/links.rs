//! Connections to states that are not active vanish with them.
//!
//! ```text
//! a.p.v = s.p.v;  a.p.v = b.p.v;  a.p.i + s.p.i + b.p.i = 0      s is not active:   a.p.v = b.p.v;  a.p.i + b.p.i = 0
//! ```

use std::collections::{BTreeMap, BTreeSet};

use saltus_flat::{BinaryOp, Equation, EquationKind, Expr, ExprKind, FlatModel, Origin, UnaryOp, VarId};

/// Writes the connection equations without absent variables.
pub fn relink(model: &mut FlatModel, absent: &BTreeSet<VarId>) {
    let is_absent = |e: &Expr| base(e).is_some_and(|id| absent.contains(&id));
    let mut kept = Vec::new();
    // Potentials that are equal, by the text of one of them.
    let mut sets: Vec<(Vec<Expr>, Equation)> = Vec::new();
    let mut set_of: BTreeMap<String, usize> = BTreeMap::new();
    for equation in std::mem::take(&mut model.equations) {
        let EquationKind::Equality { left, right } = &equation.kind else {
            kept.push(equation);
            continue;
        };
        if equation.origin != Origin::Connection
            || !(mentions(left, absent) || mentions(right, absent) || base(left).is_some() && base(right).is_some())
        {
            kept.push(equation);
            continue;
        }
        if base(left).is_some() && base(right).is_some() {
            let places = [left, right].map(|e| set_of.get(&format!("{:?}", e.kind)).copied());
            let at = match places {
                [Some(a), Some(b)] if a != b => {
                    let moved = std::mem::take(&mut sets[b].0);
                    set_of.values_mut().filter(|at| **at == b).for_each(|at| *at = a);
                    sets[a].0.extend(moved);
                    a
                }
                [Some(at), _] | [None, Some(at)] => at,
                [None, None] => {
                    sets.push((Vec::new(), equation.clone()));
                    sets.len() - 1
                }
            };
            for (e, place) in [left, right].into_iter().zip(places) {
                if place.is_none() {
                    set_of.insert(format!("{:?}", e.kind), at);
                    sets[at].0.push(e.clone());
                }
            }
            continue;
        }
        // A sum of flows.
        let sides = [left, right].map(|side| without(side, &is_absent));
        let [Some(left), Some(right)] = sides else { continue };
        kept.push(Equation { kind: EquationKind::Equality { left, right }, ..equation });
    }
    for (members, pattern) in sets {
        let mut present = members.into_iter().filter(|e| !is_absent(e));
        let Some(first) = present.next() else { continue };
        for other in present {
            let kind = EquationKind::Equality { left: first.clone(), right: other };
            kept.push(Equation { kind, ..pattern.clone() });
        }
    }
    model.equations = kept;
}

fn mentions(e: &Expr, absent: &BTreeSet<VarId>) -> bool {
    let mut found = false;
    e.walk(&mut |e| found |= matches!(e.kind, ExprKind::Var(id) if absent.contains(&id)));
    found
}

/// The variable that an expression is, or is a part of.
pub fn base(e: &Expr) -> Option<VarId> {
    match &e.kind {
        ExprKind::Var(id) => Some(*id),
        ExprKind::Index { base: inner, .. } | ExprKind::Field { base: inner, .. } => base(inner),
        _ => None,
    }
}

/// A sum without its absent terms; `None` if nothing else was in it.
fn without(e: &Expr, is_absent: &dyn Fn(&Expr) -> bool) -> Option<Expr> {
    if is_absent(e) {
        return None;
    }
    match &e.kind {
        ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), a, b) => {
            match (without(a, is_absent), without(b, is_absent)) {
                (Some(a), Some(b)) => {
                    Some(Expr::new(ExprKind::Binary(*op, Box::new(a), Box::new(b)), e.ty.clone(), e.span))
                }
                (Some(a), None) => Some(a),
                (None, Some(b)) if *op == BinaryOp::Sub => {
                    Some(Expr::new(ExprKind::Unary(UnaryOp::Negate, Box::new(b)), e.ty.clone(), e.span))
                }
                (None, b) => b,
            }
        }
        ExprKind::Unary(UnaryOp::Negate, a) => {
            let a = without(a, is_absent)?;
            Some(Expr::new(ExprKind::Unary(UnaryOp::Negate, Box::new(a)), e.ty.clone(), e.span))
        }
        _ => Some(e.clone()),
    }
}
