//! As many equations as unknowns, and each unknown determined (specification 4.8, 8.4).
//!
//! ```text
//! Real x, y;                      error: 1 equation for 2 unknowns
//! equation                          hint: no equation contains `y`
//!   x = 1;
//! ```
//!
//! The counts say that something is wrong; a matching of equations to unknowns says where: unknowns that are left over
//! in some matching are not determined, equations that are left over are too many.

mod floating;
mod incidence;
mod local;
mod matching;

use std::collections::{BTreeMap, HashSet};

use saltus_base::{Diagnostic, Diagnostics, Severity, Span};
use saltus_flat::count::{balance, component_of};
use saltus_flat::{BaseType, Equation, EquationKind, ExprKind, FlatModel, VarId};

use crate::diagnostics as codes;
use crate::facts::uses_state_machines;
use crate::text::{count, name_list};
use crate::walk;

use incidence::{Incidence, Source};
use matching::{Matching, match_equations};

/// So many names and places are shown.
const SHOWN: usize = 5;

/// Compares the numbers of equations and unknowns, with this severity, and warns of equations that cannot determine
/// what they contain. Silent where the numbers are not certain, because a size is unknown or branches differ: other
/// messages tell of that.
pub fn check_balance(model: &FlatModel, severity: Severity) -> Diagnostics {
    let mut out = Diagnostics::new();
    let counts = balance(model);
    if !counts.problems.is_empty() {
        return out;
    }
    if uses_state_machines(model) {
        out.extend(local::messages(&local::incomplete_states(model)));
        return out;
    }
    let incidence = Incidence::build(model);
    if incidence.is_broken {
        return out;
    }
    if model.from_roots > 0 && counts.equations + model.from_roots == counts.unknowns {
        return out;
    }
    let matching = match_equations(&incidence.graph);
    let unbalanced = local::find(model);
    let finding = Finding { model, incidence: &incidence, matching: &matching, unbalanced: &unbalanced };
    match counts.equations.cmp(&counts.unknowns) {
        std::cmp::Ordering::Less => {
            out.push(finding.too_few(counts.equations, counts.unknowns).severity(severity));
        }
        std::cmp::Ordering::Greater => {
            out.push(finding.too_many(counts.equations, counts.unknowns).severity(severity));
        }
        std::cmp::Ordering::Equal => {
            let floating = floating::find(model, severity);
            if floating.is_empty() && !matching.is_perfect() {
                out.push(finding.singular());
            }
            out.extend(floating);
            out.extend(local::messages(&unbalanced));
        }
    }
    out
}

struct Finding<'a> {
    model: &'a FlatModel,
    incidence: &'a Incidence<'a>,
    matching: &'a Matching,
    unbalanced: &'a [local::Unbalanced<'a>],
}

impl<'a> Finding<'a> {
    fn name(&self, id: VarId) -> &'a str {
        self.model.variables.get(id).map_or("?", |v| v.name.as_str())
    }

    fn declared(&self, id: VarId) -> Span {
        self.model.variables.get(id).map_or(Span::nowhere(), |v| v.span)
    }

    fn undetermined(&self) -> Vec<VarId> {
        let numbers = self.matching.undetermined(&self.incidence.graph);
        numbers.into_iter().map(|u| self.incidence.unknowns[u as usize]).collect()
    }

    fn too_few(&self, equations: u64, unknowns: u64) -> Diagnostic {
        let missing = unknowns - equations;
        let undetermined = self.undetermined();
        let span = undetermined.first().map_or(Span::nowhere(), |&id| self.declared(id));
        let message = format!(
            "expected as many equations as unknowns, found {} for {}: {missing} too few",
            count(equations, "equation"),
            count(unknowns, "unknown")
        );
        let d = local::blame(Diagnostic::new(codes::TOO_FEW_EQUATIONS, span, message), self.unbalanced);
        self.explain_undetermined(d, &undetermined)
    }

    fn too_many(&self, equations: u64, unknowns: u64) -> Diagnostic {
        let (redundant, contained) = self.matching.redundant(&self.incidence.graph);
        let message = format!(
            "expected as many equations as unknowns, found {} for {}: {} too many",
            count(equations, "equation"),
            count(unknowns, "unknown"),
            equations - unknowns
        );
        let span = redundant.last().map_or(Span::nowhere(), |&e| self.incidence.span(e));
        let d = local::blame(Diagnostic::new(codes::TOO_MANY_EQUATIONS, span, message), self.unbalanced);
        self.explain_redundant(d, &redundant, &contained)
    }

    /// The numbers agree, but some unknowns are not determined while some equations are too many.
    fn singular(&self) -> Diagnostic {
        let undetermined = self.undetermined();
        let (redundant, contained) = self.matching.redundant(&self.incidence.graph);
        let names = name_list(undetermined.iter().map(|&id| self.name(id)), SHOWN);
        let span = undetermined.first().map_or(Span::nowhere(), |&id| self.declared(id));
        let message = format!("there are as many equations as unknowns, but nothing determines {names}");
        let d = Diagnostic::new(codes::STRUCTURALLY_SINGULAR, span, message);
        let d = self.explain_undetermined(d, &undetermined);
        self.explain_redundant(d, &redundant, &contained)
    }

    fn explain_undetermined(&self, mut d: Diagnostic, undetermined: &[VarId]) -> Diagnostic {
        let either = |k| if k == 0 { "" } else { " either" };
        let undetermined_at = undetermined.iter().enumerate().take(SHOWN);
        for (k, &id) in undetermined_at.filter(|&(_, &id)| Some(self.declared(id)) != d.span).collect::<Vec<_>>() {
            d = d.label(self.declared(id), format!("`{}` is not determined{}", self.name(id), either(k)));
        }
        let occurring: HashSet<u32> = self.incidence.graph.edges.iter().map(|e| e.1).collect();
        let numbers = self.matching.undetermined(&self.incidence.graph);
        let (used, unused): (Vec<VarId>, Vec<VarId>) = numbers
            .iter()
            .map(|&u| (occurring.contains(&u), self.incidence.unknowns[u as usize]))
            .fold((Vec::new(), Vec::new()), |mut lists, (is_used, id)| {
                if is_used {
                    lists.0.push(id)
                } else {
                    lists.1.push(id)
                }
                lists
            });
        let (discrete, unused): (Vec<_>, Vec<_>) =
            unused.into_iter().partition(|&id| self.real_equation_of(id).is_some());
        let discrete = discrete.into_iter().take(SHOWN).filter_map(|id| Some((id, self.real_equation_of(id)?)));
        if !unused.is_empty() {
            let names = name_list(unused.iter().map(|&id| self.name(id)), SHOWN);
            d = d.hint(format!("no equation contains {names}"));
        }
        for (id, equation) in discrete {
            let name = self.name(id);
            d = d.label(equation.span, "a Real equation").hint(format!(
                "`{name}` is not Real, so a Real equation cannot determine it: use `integer(…)`, or declare `{name}` as Real"
            ));
        }
        let inputs = self.only_inside(&used);
        for &id in inputs.iter().take(SHOWN) {
            let (name, component) = (self.name(id), component_of(self.name(id)));
            let input = name.get(component.len() + 1..).unwrap_or(name);
            d = d.hint(format!(
                "`{input}` of the component `{component}` is not connected: give it an equation or connect it"
            ));
        }
        if !used.is_empty() && inputs.is_empty() {
            let names = name_list(used.iter().map(|&id| self.name(id)), SHOWN);
            let one_more = if used.len() == 1 { "an equation" } else { "one more equation" };
            d = d.hint(format!("{one_more} for {names} is missing"));
        }
        for (_, message) in
            self.model.unassigned_messages.iter().filter(|(id, _)| undetermined.contains(id)).take(SHOWN)
        {
            d = d.hint(message.clone());
        }
        self.blame_components(d, undetermined)
    }

    /// The first Real equation that contains a variable of another type.
    fn real_equation_of(&self, id: VarId) -> Option<&'a Equation> {
        if self.model.variables.get(id)?.ty.base == BaseType::Real {
            return None;
        }
        self.model.equations.iter().find(|equation| match &equation.kind {
            EquationKind::Equality { left, right } if left.ty.base == BaseType::Real => {
                let mut is_in = false;
                for side in [left, right] {
                    walk::for_each_part(side, &mut |part| is_in |= part.kind == ExprKind::Var(id));
                }
                is_in
            }
            _ => false,
        })
    }

    /// Undetermined variables of a component that are used by its own equations alone, and determined by none: inputs
    /// and connector variables that nothing is connected to.
    fn only_inside(&self, undetermined: &[VarId]) -> Vec<VarId> {
        let mut candidates: BTreeMap<VarId, bool> =
            undetermined.iter().filter(|&&id| !component_of(self.name(id)).is_empty()).map(|&id| (id, true)).collect();
        for &(equation, unknown) in &self.incidence.graph.edges {
            let id = self.incidence.unknowns[unknown as usize];
            let Some(inside) = candidates.get_mut(&id) else { continue };
            let component = component_of(self.name(id));
            *inside &= match self.incidence.sources[equation as usize] {
                Source::Binding(other) => other != id && is_within(self.name(other), component),
                Source::Equation(e) => {
                    let is_left =
                        matches!(&e.kind, EquationKind::Equality { left, .. } if left.kind == ExprKind::Var(id));
                    !is_left && (*e.component == *component || is_within(&e.component, component))
                }
                Source::Algorithm(_) => false,
            };
        }
        candidates.into_iter().filter(|(_, inside)| *inside).map(|(id, _)| id).collect()
    }

    /// Where the undetermined variables belong to several components, says how many to which.
    fn blame_components(&self, d: Diagnostic, undetermined: &[VarId]) -> Diagnostic {
        let mut by_component: BTreeMap<&str, u64> = BTreeMap::new();
        for &id in undetermined {
            *by_component.entry(component_of(self.name(id))).or_default() += 1;
        }
        if by_component.len() < 2 || !self.unbalanced.is_empty() {
            return d;
        }
        let mut parts: Vec<(&str, u64)> = by_component.into_iter().collect();
        parts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let list: Vec<String> = parts
            .iter()
            .take(SHOWN)
            .map(|(c, n)| if c.is_empty() { format!("the model itself: {n}") } else { format!("`{c}`: {n}") })
            .collect();
        d.hint(format!("variables without a certain equation, by component: {}", list.join(", ")))
    }

    fn explain_redundant(&self, mut d: Diagnostic, redundant: &[u32], contained: &[u32]) -> Diagnostic {
        for &equation in
            redundant.iter().filter(|&&e| Some(self.incidence.span(e)) != d.span).take(SHOWN).collect::<Vec<_>>()
        {
            d = d.label(self.incidence.span(equation), "one of the equations that are too many");
        }
        let ids: Vec<VarId> = contained.iter().map(|&u| self.incidence.unknowns[u as usize]).collect();
        let size =
            |sizes: &[u64], chosen: &[u32]| chosen.iter().map(|&i| sizes[i as usize]).fold(0, u64::saturating_add);
        let n_equations = size(&self.incidence.graph.equation_sizes, redundant);
        let n_unknowns = size(&self.incidence.graph.unknown_sizes, contained);
        if ids.is_empty() {
            return d.hint("remove the equation: it contains no unknown");
        }
        let names = name_list(ids.iter().map(|&id| self.name(id)), SHOWN);
        d = d.hint(format!(
            "{} only {}: {names}",
            if n_equations == 1 { "1 equation contains".into() } else { format!("{n_equations} equations contain") },
            count(n_unknowns, "unknown")
        ));
        for id in self.determined_twice(redundant).into_iter().take(SHOWN) {
            let name = self.name(id);
            d = d.hint(format!("`{name}` has a value from its declaration and an equation: remove one of them"));
        }
        d
    }

    /// Variables with a binding that stand alone on one side of another equation.
    fn determined_twice(&self, redundant: &[u32]) -> Vec<VarId> {
        let source = |&e: &u32| self.incidence.sources[e as usize];
        let bound: HashSet<VarId> = redundant
            .iter()
            .filter_map(|e| match source(e) {
                Source::Binding(id) => Some(id),
                _ => None,
            })
            .collect();
        let mut twice: Vec<VarId> = Vec::new();
        for e in redundant {
            if let Source::Equation(equation) = source(e)
                && let EquationKind::Equality { left, right } = &equation.kind
            {
                for side in [left, right] {
                    if let ExprKind::Var(id) = side.kind
                        && bound.contains(&id)
                    {
                        twice.push(id);
                    }
                }
            }
        }
        twice.sort_unstable();
        twice.dedup();
        twice
    }
}

/// `a.b.c` is within `a.b` and within `a`.
fn is_within(name: &str, component: &str) -> bool {
    name.strip_prefix(component).is_some_and(|rest| rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use saltus_base::Severity;
    use saltus_flat::FlatModel;

    use super::check_balance;
    use crate::testing::{equation, expect, expect_fast, real_variable, reference};

    #[track_caller]
    fn says(source: &str, expected: &str) {
        expect(|model| check_balance(model, Severity::Error), source, expected);
    }

    #[test]
    fn a_variable_in_no_equation() {
        says(
            "Real x, y; input Real u;
equation
  x = u;",
            "
E0450 1:9 `y`: expected as many equations as unknowns, found 1 equation for 2 unknowns: 1 too few
  hint: no equation contains `y`",
        );
    }

    #[test]
    fn one_equation_for_two() {
        says(
            "Real x, y, z = 3;
equation
  x + y = z;",
            "
E0450 1:6 `x`: expected as many equations as unknowns, found 2 equations for 3 unknowns: 1 too few
  1:9 `y`: `y` is not determined either
  hint: one more equation for `x` and `y` is missing",
        );
    }

    #[test]
    fn an_input_that_is_not_connected() {
        says(
            "Real gain.u, gain.y, z;
equation
  @gain gain.y = 2*gain.u;
  z = gain.y;",
            "
E0450 1:6 `gain.u`: expected as many equations as unknowns, found 2 equations for 3 unknowns: 1 too few
  1:14 `gain.y`: `gain.y` is not determined either
  1:22 `z`: `z` is not determined either
  hint: `u` of the component `gain` is not connected: give it an equation or connect it
  hint: variables without a certain equation, by component: `gain`: 2, the model itself: 1",
        );
    }

    #[test]
    fn a_binding_and_an_equation() {
        says(
            "Real x = 1, y;
equation
  x = 2;
  y = x;",
            "
E0451 3:3 `x = 2`: expected as many equations as unknowns, found 3 equations for 2 unknowns: 1 too many
  1:10 `1`: one of the equations that are too many
  hint: 2 equations contain only 1 unknown: `x`
  hint: `x` has a value from its declaration and an equation: remove one of them",
        );
    }

    #[test]
    fn an_equation_without_unknowns() {
        says(
            "parameter Real p = 1; Real x = p;
equation
  p = 2*p;",
            "
E0451 3:3 `p = 2*p`: expected as many equations as unknowns, found 2 equations for 1 unknown: 1 too many
  hint: remove the equation: it contains no unknown",
        );
    }

    #[test]
    fn equal_numbers_but_singular() {
        says(
            "Real x, y, z;
equation
  x = 1;
  2*x = 2;
  y + z = x;",
            "
W0452 1:9 `y`: there are as many equations as unknowns, but nothing determines `y` and `z`
  1:12 `z`: `z` is not determined either
  3:3 `x = 1`: one of the equations that are too many
  4:3 `2*x = 2`: one of the equations that are too many
  hint: one more equation for `y` and `z` is missing
  hint: 2 equations contain only 1 unknown: `x`",
        );
    }

    #[test]
    fn balanced_models() {
        says(
            "Real x, v, w[3], q; Boolean b; Integer n = if b then 1 else 2; parameter Real p;
equation
  der(x) = v;
  der(v) = -p*x + q;
  w = {x, v, w[1]};
  b = x > pre(q);
  when b then q = 2*pre(q); reinit(x, 1.0); elsewhen v > 1 then q = x; end when;
  assert(x < 9, \"x\");",
            "",
        );
        // A constraint between differentiated variables has index 2, but is not singular.
        says("Real x, v; equation der(x) = v; x = sin(time);", "");
        says(
            "Real x; equation when time > 1 then if x > 1 then x = 1; else if x > 0 then x = 2; else x = 3; end if; end if; end when;",
            "",
        );
        says("Real x; algorithm if time > 1 then x := 1; else x := 2; end if;", "");
    }

    #[test]
    fn a_warning_on_request() {
        let model = crate::testing::parse("Real x;");
        let d = check_balance(&model, Severity::Warning);
        assert!(d.iter().all(|d| d.severity == Severity::Warning) && d.len() == 1);
    }

    /// x[k] = x[k+1] for all k and one of them given: a chain that defeats depth-first search with recursion.
    #[test]
    fn a_hundred_thousand_variables() {
        let n = 100_000;
        let mut model = FlatModel::default();
        for i in 0..n {
            model.variables.push(real_variable(format!("c{i}.x")));
        }
        model.equations = (0..n).map(|i| equation(reference(i), reference((i + 1) % n))).collect();
        expect_fast(&model, |m| check_balance(m, Severity::Error));
        assert!(check_balance(&model, Severity::Error).is_empty());
    }
}
