//! Parts of a model whose potentials nothing fixes: a circuit without a ground, a drive train without a housing.
//!
//! ```text
//! connect(source.p, r.p);          error: nothing fixes the potentials `v` of `r` and `source`
//! connect(source.n, r.n);            hint: connect one of them to a ground
//! ```
//!
//! The number of equations is right, and a matching exists: the currents of a closed circuit add up to zero once more than needed,
//! while one equation for the potentials is missing. What gives it away is that all potentials can be shifted by one number, and
//! every equation still holds. So for each set of potentials that occur together the slope of each equation along that shift is
//! found, by the rules of sums; what is not a sum counts as unchanged only if all its operands are. A set in which each slope is zero
//! floats. The test errs on the side of silence: a potential in an equation that is not understood counts as fixed.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use saltus_base::{Diagnostic, Index, Severity, Span};
use saltus_flat::count::{Owners, component_of, is_unknown};
use saltus_flat::{
    BaseType, BinaryOp, Builtin, Equation, EquationKind, Expr, ExprKind, FlatModel, Origin, Prefix, UnaryOp, VarId,
    Variable,
};
use saltus_graph::DisjointSets;

use super::SHOWN;
use crate::diagnostics as codes;
use crate::text::name_list;
use crate::walk;

/// Coefficients are sums of few literals: anything above is not rounding.
const ROUNDING: f64 = 1e-12;

/// One message for each part that floats, in the order of the variables.
pub fn find(model: &FlatModel, severity: Severity) -> Vec<Diagnostic> {
    let mut shift = Shift::new(model);
    if shift.members.is_empty() {
        return Vec::new();
    }
    shift.look_at_all();
    shift.islands().iter().map(|island| message(model, island).severity(severity)).collect()
}

struct Shift<'a> {
    model: &'a FlatModel,
    /// Variables that are shifted: potentials and what is equal to one.
    members: HashSet<VarId>,
    sets: DisjointSets,
    /// By variable: it stands in an equation that does not hold any more after the shift.
    is_fixed: Vec<bool>,
}

impl<'a> Shift<'a> {
    fn new(model: &'a FlatModel) -> Self {
        let n = model.variables.len();
        let mut shift =
            Shift { model, members: potentials(model), sets: DisjointSets::with_len(n), is_fixed: vec![false; n] };
        shift.add_aliases();
        shift
    }

    /// Variables that are nothing but another name of a potential follow it.
    fn add_aliases(&mut self) {
        let mut equal: BTreeMap<VarId, Vec<VarId>> = BTreeMap::new();
        for_each_sum(self.model, &mut |sum| {
            if let [(a, _), (b, _)] = sum
                && let (Some(a), Some(b)) = (self.unknown(a), self.unknown(b))
            {
                equal.entry(a).or_default().push(b);
                equal.entry(b).or_default().push(a);
            }
        });
        let mut stack: Vec<VarId> = self.members.iter().copied().collect();
        while let Some(id) = stack.pop() {
            for &other in equal.get(&id).into_iter().flatten() {
                if self.members.insert(other) {
                    stack.push(other);
                }
            }
        }
    }

    fn unknown(&self, e: &Expr) -> Option<VarId> {
        match e.kind {
            ExprKind::Var(id) if self.model.variables.get(id).is_some_and(is_free) => Some(id),
            _ => None,
        }
    }

    fn look_at_all(&mut self) {
        let model = self.model;
        for_each_sum(model, &mut |sum| self.look_at(sum));
        for algorithm in &model.algorithms {
            let place = walk::Place { section: walk::Section::Algorithm, in_when: false };
            walk::statements(&algorithm.statements, place, &mut |e, _| self.fix_all_in(e));
        }
        // Connectors of the model itself, and of the `inner` components it expects around it, are for its users.
        let owners = Owners::new(model);
        for id in potentials(model) {
            let owner = model.variables.get(id).and_then(|v| owners.around(&v.name));
            self.is_fixed[id.index()] |= owner.is_some_and(|c| c.name.is_empty() || c.is_outside);
        }
    }

    fn fix_all_in(&mut self, e: &Expr) {
        walk::for_each_part(e, &mut |part| {
            if let ExprKind::Var(id) = part.kind {
                self.is_fixed[id.index()] = true;
            }
        });
    }

    /// `0 = ±a ± b …`: joins the potentials in it, and fixes them if their shift changes the sum.
    fn look_at(&mut self, sum: &[(&Expr, f64)]) {
        let mut found = Vec::new();
        for (e, _) in sum {
            walk::for_each_part(e, &mut |part| match part.kind {
                ExprKind::Var(id) if self.members.contains(&id) => found.push(id),
                _ => {}
            });
        }
        let Some(&first) = found.first() else { return };
        for other in &found {
            self.sets.union(first.index() as u32, other.index() as u32);
        }
        if !self.is_unchanged(sum) {
            self.is_fixed[first.index()] = true;
        }
    }

    /// Does the value of a sum, and of each operand in it that is not a sum, stay as it is?
    fn is_unchanged(&self, sum: &[(&Expr, f64)]) -> bool {
        let mut pending: Vec<Vec<(&Expr, f64)>> = vec![sum.to_vec()];
        while let Some(mut terms) = pending.pop() {
            let (mut slope, mut size) = (0.0, 0.0);
            while let Some((e, factor)) = terms.pop() {
                match &e.kind {
                    ExprKind::Var(id) if self.members.contains(id) => {
                        slope += factor;
                        size += f64::abs(factor);
                    }
                    ExprKind::Unary(UnaryOp::Negate, a) => terms.push((a, -factor)),
                    ExprKind::Cast(a) => terms.push((a, factor)),
                    ExprKind::Binary(BinaryOp::Add, a, b) => terms.extend([(&**a, factor), (&**b, factor)]),
                    ExprKind::Binary(BinaryOp::Sub, a, b) => terms.extend([(&**a, factor), (&**b, -factor)]),
                    ExprKind::Binary(BinaryOp::Mul, a, b) if literal(a).is_some() => {
                        terms.push((b, factor * literal(a).unwrap_or(1.0)));
                    }
                    ExprKind::Binary(BinaryOp::Mul, a, b) if literal(b).is_some() => {
                        terms.push((a, factor * literal(b).unwrap_or(1.0)));
                    }
                    ExprKind::Index { base, .. } if matches!(base.kind, ExprKind::Var(_)) => terms.push((base, factor)),
                    // A state: it has its own initial value.
                    ExprKind::Builtin { function: Builtin::Der, arguments } if self.is_member(arguments) => {
                        return false;
                    }
                    _ => e.for_each_child(&mut |child| pending.push(vec![(child, 1.0)])),
                }
            }
            if slope.abs() > ROUNDING * size {
                return false;
            }
        }
        true
    }

    fn is_member(&self, arguments: &[Expr]) -> bool {
        matches!(arguments, [Expr { kind: ExprKind::Var(id), .. }] if self.members.contains(id))
    }

    /// The sets without a fixed member.
    fn islands(&mut self) -> Vec<Vec<VarId>> {
        let mut ids: Vec<VarId> = self.members.iter().copied().collect();
        ids.sort_unstable();
        let fixed: HashSet<u32> =
            ids.iter().filter(|id| self.is_fixed[id.index()]).map(|id| self.sets.find(id.index() as u32)).collect();
        let mut islands: BTreeMap<u32, Vec<VarId>> = BTreeMap::new();
        for id in ids {
            let set = self.sets.find(id.index() as u32);
            if !fixed.contains(&set) {
                islands.entry(set).or_default().push(id);
            }
        }
        let mut islands: Vec<Vec<VarId>> = islands.into_values().collect();
        islands.sort_unstable();
        islands
    }
}

fn literal(e: &Expr) -> Option<f64> {
    match e.kind {
        ExprKind::Real(value) => Some(value),
        ExprKind::Integer(value) => Some(value as f64),
        _ => None,
    }
}

fn is_free(variable: &Variable) -> bool {
    let is_empty = variable.ty.dims.iter().any(|dim| dim.known() == Some(0));
    is_unknown(variable) && variable.ty.base == BaseType::Real && !is_empty
}

/// Real variables beside a flow variable in a connector.
fn potentials(model: &FlatModel) -> HashSet<VarId> {
    let flows = model.variables.values().filter(|v| v.prefix == Prefix::Flow);
    let connectors: HashSet<&str> = flows.map(|v| component_of(&v.name)).collect();
    let is_potential =
        |v: &Variable| v.prefix == Prefix::None && is_free(v) && connectors.contains(component_of(&v.name));
    model.variables.iter().filter(|(_, v)| is_potential(v)).map(|(id, _)| id).collect()
}

/// Sees terms with their factors.
type Visit<'v> = &'v mut dyn FnMut(&[(&Expr, f64)]);

/// Calls `visit` on each equation as terms that add up to zero; a condition is a sum of its own.
fn for_each_sum(model: &FlatModel, visit: Visit<'_>) {
    for (id, variable) in model.variables.iter() {
        if let Some(binding) = variable.binding.as_ref().filter(|_| is_unknown(variable)) {
            let own = Expr::new(ExprKind::Var(id), variable.ty.clone(), variable.span);
            visit(&[(&own, 1.0), (binding, -1.0)]);
        }
    }
    for_each_sum_in(&model.equations, visit);
}

fn for_each_sum_in(equations: &[Equation], visit: Visit<'_>) {
    for equation in equations {
        let (branches, otherwise) = match &equation.kind {
            EquationKind::Equality { left, right } => {
                visit(&[(left, 1.0), (right, -1.0)]);
                continue;
            }
            EquationKind::If { branches, otherwise } => (branches, otherwise.as_slice()),
            EquationKind::When { branches } => (branches, [].as_slice()),
            // These determine nothing.
            EquationKind::Assert { .. }
            | EquationKind::Terminate { .. }
            | EquationKind::Reinit { .. }
            | EquationKind::Call(_) => continue,
        };
        for (condition, body) in branches {
            visit(&[(condition, 1.0)]);
            for_each_sum_in(body, visit);
        }
        for_each_sum_in(otherwise, visit);
    }
}

fn message(model: &FlatModel, island: &[VarId]) -> Diagnostic {
    let name = |id: &VarId| model.variables.get(*id).map_or("", |v| v.name.as_str());
    let parts: BTreeSet<&str> = island.iter().map(|id| first_part(name(id))).collect();
    let first = island.first().and_then(|id| model.variables.get(*id));
    let potential =
        first.map_or("", |v| v.name.get(component_of(&v.name).len()..).unwrap_or("").trim_start_matches('.'));
    let connections = connections_of(model, island);
    let span = connections.first().copied().or(first.map(|v| v.span)).unwrap_or(Span::nowhere());
    let parts = name_list(parts, SHOWN);
    let message =
        format!("nothing fixes the potentials `{potential}` of {parts}: this part of the model has no reference");
    let mut d = Diagnostic::new(codes::FLOATING, span, message);
    for &other in connections.iter().skip(1).take(SHOWN - 1) {
        d = d.label(other, "connected to it");
    }
    let unit = first.and_then(|v| v.attributes.unit.as_ref()).map(|e| &e.kind);
    d.hint(format!("connect one of them to {}", reference(unit)))
        .hint(format!("every equation still holds if all these `{potential}` grow by the same number"))
}

/// What usually fixes a potential with this unit.
fn reference(unit: Option<&ExprKind>) -> &'static str {
    let unit = match unit {
        Some(ExprKind::String(unit)) => &**unit,
        _ => "",
    };
    match unit {
        "V" => "a ground",
        "rad" | "m" => "a component that is fixed, or to one with a mass",
        "K" => "a given temperature, or to a heat capacity",
        "Pa" => "a boundary with a given pressure, or to a volume",
        "A" => "a magnetic ground",
        _ => "a component that gives it a value",
    }
}

/// Where the model itself connects members, in the order of the text.
fn connections_of(model: &FlatModel, island: &[VarId]) -> Vec<Span> {
    let island: HashSet<VarId> = island.iter().copied().collect();
    let mut spans = Vec::new();
    for equation in model.equations.iter().filter(|e| e.origin == Origin::Connection && e.component.is_empty()) {
        if let EquationKind::Equality { left, right } = &equation.kind
            && [left, right].iter().any(|side| matches!(side.kind, ExprKind::Var(id) if island.contains(&id)))
            && !spans.contains(&equation.span)
        {
            spans.push(equation.span);
        }
    }
    spans.sort_unstable_by_key(|s| (s.file, s.start));
    spans
}

/// `a[2]` of `a[2].b.c`
fn first_part(mut name: &str) -> &str {
    loop {
        match component_of(name) {
            "" => return name,
            owner => name = owner,
        }
    }
}

#[cfg(test)]
mod tests {
    use saltus_base::Severity;

    use crate::testing::{expect, parse};

    fn check(model: &saltus_flat::FlatModel) -> saltus_base::Diagnostics {
        crate::check_balance(model, Severity::Error)
    }

    const CIRCUIT: &str =
        "flow Real r.p.i, r.n.i, s.p.i, s.n.i; Real r.p.v(unit = \"V\"), r.n.v, s.p.v, s.n.v, r.v, s.v, r.R, s.T;
parameter Real V = 1;
equation
  r.v = r.p.v - r.n.v;
  r.p.i + r.n.i = 0;
  r.v = r.R*r.p.i;
  r.R = 2*(1 + s.T);
  s.T = time;
  s.v = s.p.v - s.n.v;
  s.p.i + s.n.i = 0;
  s.v = V;
  @connect s.p.v = r.p.v;
  @connect s.p.i + r.p.i = 0;
  @connect s.n.v = r.n.v;
";

    #[test]
    fn a_circuit_without_a_ground() {
        expect(
            check,
            &format!("{CIRCUIT}  @connect s.n.i + r.n.i = 0;"),
            "
E0453 12:12 `s.p.v = r.p.v`: nothing fixes the potentials `v` of `r` and `s`: this part of the model has no reference
  14:12 `s.n.v = r.n.v`: connected to it
  hint: connect one of them to a ground
  hint: every equation still holds if all these `v` grow by the same number",
        );
    }

    #[test]
    fn a_ground_a_nonlinear_law_or_a_state_fixes_it() {
        for fixing in ["s.n.v = 0", "r.p.i = sin(r.p.v)", "der(r.p.v) = r.p.i", "r.p.v = V"] {
            let model = parse(&format!("{CIRCUIT}  {fixing};"));
            assert!(check(&model).iter().all(|d| d.code != crate::diagnostics::FLOATING), "{fixing}");
        }
    }

    #[test]
    fn another_name_and_a_difference_fix_nothing() {
        let named = format!("Real m.u; {CIRCUIT}  m.u = s.p.v;  s.n.i + r.n.i = 0;");
        let branch = format!(
            "Real m.u; {CIRCUIT}  if V > 2 then m.u = r.n.v - s.p.v; else m.u = 0; end if;  s.n.i + r.n.i = 0;"
        );
        for text in [named, branch] {
            let found: Vec<_> = check(&parse(&text)).iter().map(|d| d.code.0).collect();
            assert_eq!(found, ["E0453"], "{text}");
        }
    }
}
