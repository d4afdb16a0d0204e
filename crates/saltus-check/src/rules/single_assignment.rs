//! Single assignment: a variable is determined in one place (specification 8.3.5.3, 8.4, 11.1; the 1999 report calls it
//! the single assignment rule).
//!
//! ```text
//! when a then q = 1; end when;
//! when b then q = 2; end when;       error: which one wins if both fire?
//! ```
//!
//! Branches of one `when`, several statements of one algorithm and different elements of an array do not conflict.
//! An ordinary equation or a binding counts as a second place only if it contains nothing else that it could determine;
//! the rest is for the balance to find. An algorithm is a set of equations as well (11.1): one that reads something that nothing else
//! determines may be solved for that, given what it assigns.

use std::collections::{HashMap, HashSet};

use saltus_base::{Code, Diagnostic, Diagnostics, Span};
use saltus_flat::count::balance;
use saltus_flat::{BaseType, Builtin, Causality, Equation, EquationKind, Expr, ExprKind, VarId};

use crate::diagnostics as codes;
use crate::facts::Context;
use crate::targets::{self, Region, Target};
use crate::variability::is_ordered_relation;
use crate::walk;

/// Where a variable is determined; the number tells clauses and sections apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Definer {
    Binding,
    When(usize),
    Algorithm(usize),
    Equation,
}

#[derive(Default)]
struct Definitions {
    by_region: HashMap<(VarId, Region), (Definer, Span)>,
    by_variable: HashMap<VarId, (Definer, Span)>,
    reported: HashSet<VarId>,
}

pub fn check(cx: Context<'_>, out: &mut Diagnostics) {
    if cx.facts.uses_state_machines {
        return;
    }
    let mut definitions = Definitions::default();
    for (number, equation) in cx.model.equations.iter().enumerate() {
        when_targets(cx, std::slice::from_ref(equation), Definer::When(number), false, &mut definitions, out);
    }
    for (number, algorithm) in cx.model.algorithms.iter().enumerate() {
        let mut assigned = Vec::new();
        targets::assigned(cx.model, &algorithm.statements, false, &mut assigned);
        for (mut target, _) in assigned {
            // An algorithm that assigns some element owns them all (11.1.2).
            if target.region == Region::Some {
                target.region = Region::Whole;
            }
            definitions.add(cx, target, Definer::Algorithm(number), out);
        }
    }
    bindings(cx, &mut definitions, out);
    ordinary_equations(cx, &cx.model.equations, &mut definitions, out);
}

fn bindings(cx: Context<'_>, definitions: &mut Definitions, out: &mut Diagnostics) {
    for (id, variable) in cx.model.variables.iter() {
        let (Some(binding), Some(&(definer, span))) = (&variable.binding, definitions.by_variable.get(&id)) else {
            continue;
        };
        if !determines_something(cx, definitions, id, binding)
            && !is_solved_backwards(cx, definitions, definer, id)
            && definitions.reported.insert(id)
        {
            let place = if binding.span.is_nowhere() { variable.span } else { binding.span };
            let assigned = Target { variable: id, region: Region::Whole, span };
            out.push(two_places(cx, assigned, definer, Definer::Binding, place));
        }
    }
}

/// All clauses below one equation of the section get one number: those in different branches of an `if` exclude each
/// other.
fn when_targets(
    cx: Context<'_>,
    list: &[Equation],
    definer: Definer,
    in_when: bool,
    definitions: &mut Definitions,
    out: &mut Diagnostics,
) {
    for equation in list {
        match &equation.kind {
            EquationKind::Equality { left, .. } if in_when => {
                let mut found = Vec::new();
                targets::collect(cx.model, left, &mut found);
                found.into_iter().for_each(|target| definitions.add(cx, target, definer, out));
            }
            EquationKind::If { branches, otherwise } => {
                branches.iter().for_each(|(_, body)| when_targets(cx, body, definer, in_when, definitions, out));
                when_targets(cx, otherwise, definer, in_when, definitions, out);
            }
            EquationKind::When { branches } => {
                branches.iter().for_each(|(_, body)| when_targets(cx, body, definer, true, definitions, out));
            }
            _ => {}
        }
    }
}

impl Definitions {
    fn add(&mut self, cx: Context<'_>, target: Target, definer: Definer, out: &mut Diagnostics) {
        let variable = target.variable;
        if cx.is_parameter(variable) {
            if self.reported.insert(variable) {
                out.push(parameter_assigned(cx, target));
            }
            return;
        }
        if let Some((earlier, span)) = self.conflict(target, definer)
            && self.reported.insert(variable)
        {
            out.push(two_places(cx, target, definer, earlier, span));
        }
        self.by_region.entry((variable, target.region)).or_insert((definer, target.span));
        self.by_variable.entry(variable).or_insert((definer, target.span));
    }

    /// The earlier place that determines the same element.
    fn conflict(&self, target: Target, definer: Definer) -> Option<(Definer, Span)> {
        let earlier = match target.region {
            Region::Some => None,
            Region::Whole => self.by_variable.get(&target.variable),
            Region::Element(_) => {
                let same = self.by_region.get(&(target.variable, target.region));
                same.or_else(|| self.by_region.get(&(target.variable, Region::Whole)))
            }
        };
        earlier.filter(|(e, _)| *e != definer).copied()
    }
}

fn ordinary_equations(cx: Context<'_>, list: &[Equation], definitions: &mut Definitions, out: &mut Diagnostics) {
    for equation in list {
        match &equation.kind {
            EquationKind::Equality { left, right } => {
                for (side, other) in [(left, right), (right, left)] {
                    let Some(mut target) = targets::reference(cx.model, side) else { continue };
                    let Some(&(definer, _)) = definitions.by_variable.get(&target.variable) else { continue };
                    let is_assigned = matches!(definer, Definer::When(_) | Definer::Algorithm(_));
                    if is_assigned
                        && !determines_something(cx, definitions, target.variable, other)
                        && !is_solved_backwards(cx, definitions, definer, target.variable)
                    {
                        target.span = equation.span;
                        definitions.add(cx, target, Definer::Equation, out);
                        break;
                    }
                }
            }
            EquationKind::If { branches, otherwise } => {
                branches.iter().for_each(|(_, body)| ordinary_equations(cx, body, definitions, out));
                ordinary_equations(cx, otherwise, definitions, out);
            }
            _ => {}
        }
    }
}

/// Whether an algorithm that assigns this variable is there to determine another one.
///
/// ```text
/// algorithm y := x^3;
/// equation  y = 1 + time;       determines x
/// ```
fn is_solved_backwards(cx: Context<'_>, definitions: &Definitions, definer: Definer, variable: VarId) -> bool {
    let Definer::Algorithm(number) = definer else { return false };
    let Some(algorithm) = cx.model.algorithms.get(number).filter(|_| !cx.is_discrete_time(variable)) else {
        return false;
    };
    let mut reads_unknown = false;
    let place = walk::Place { section: walk::Section::Algorithm, in_when: false };
    walk::statements(&algorithm.statements, place, &mut |e, _| {
        reads_unknown |= determines_something(cx, definitions, variable, e);
    });
    // If there are too many equations this one is the place to say so.
    reads_unknown && {
        let counts = balance(cx.model);
        counts.problems.is_empty() && counts.equations == counts.unknowns
    }
}

/// Whether an equation with this side could determine a variable that no clause or algorithm assigns.
fn determines_something(cx: Context<'_>, definitions: &Definitions, except: VarId, side: &Expr) -> bool {
    let is_real = side.ty.base == BaseType::Real;
    let mut found = false;
    walk::for_each_part_while(side, &mut |part| match &part.kind {
        ExprKind::Builtin { function: Builtin::Pre | Builtin::Edge | Builtin::Change, .. } => false,
        ExprKind::Builtin { function: Builtin::Der, .. } => {
            found = true;
            false
        }
        ExprKind::Binary(op, ..) if !is_real && is_ordered_relation(*op) => false,
        ExprKind::Var(v) => {
            let is_known = cx.is_parameter(*v)
                || cx.model.variables.get(*v).is_none_or(|d| d.causality == Causality::Input)
                || definitions.by_variable.contains_key(v)
                || *v == except;
            found |= !is_known;
            false
        }
        _ => true,
    });
    found
}

fn two_places(cx: Context<'_>, target: Target, definer: Definer, earlier: Definer, first: Span) -> Diagnostic {
    let name = cx.name(target.variable);
    let (code, message, hint): (Code, String, String) = match (earlier, definer) {
        (Definer::When(_), Definer::When(_)) => (
            codes::TWO_WHENS,
            format!("`{name}` is assigned in two when-clauses"),
            "both may fire at the same instant: join them to one `when … elsewhen …`, whose first branch has priority"
                .into(),
        ),
        (Definer::When(_), Definer::Equation) => (
            codes::WHEN_AND_EQUATION,
            format!("`{name}` is determined by this equation and by a when-clause"),
            format!("a when-clause determines `{name}` at all times, not only at its events: remove one of the two"),
        ),
        (Definer::Algorithm(_), Definer::Algorithm(_)) => (
            codes::TWO_ALGORITHMS,
            format!("`{name}` is assigned in two algorithm sections"),
            "algorithm sections have no order among each other: move the assignments into one section".into(),
        ),
        (Definer::Binding, _) => (
            codes::BINDING_AND_ASSIGNMENT,
            format!("`{name}` has a value from its declaration and is assigned here"),
            format!("the `=` in a declaration is an equation; for a start value write `{name}(start = …)`"),
        ),
        _ => (
            codes::ALGORITHM_AND_EQUATION,
            format!("`{name}` is determined {} and {}", place(earlier), place(definer)),
            "an algorithm section determines all variables it assigns: remove one of the two".into(),
        ),
    };
    Diagnostic::new(code, target.span, message).label(first, label(earlier)).hint(hint)
}

fn place(definer: Definer) -> &'static str {
    match definer {
        Definer::Binding => "by its declaration",
        Definer::When(_) => "in a when-clause",
        Definer::Algorithm(_) => "in an algorithm section",
        Definer::Equation => "by an equation",
    }
}

fn label(definer: Definer) -> &'static str {
    match definer {
        Definer::Binding => "value from the declaration",
        Definer::When(_) => "assigned in this when-clause",
        Definer::Algorithm(_) => "assigned in this algorithm section",
        Definer::Equation => "determined by this equation",
    }
}

fn parameter_assigned(cx: Context<'_>, target: Target) -> Diagnostic {
    let name = cx.name(target.variable);
    let declared = cx.model.variables.get(target.variable).map_or(Span::nowhere(), |v| v.span);
    Diagnostic::new(
        codes::PARAMETER_ASSIGNED,
        target.span,
        format!("expected a variable, found the parameter `{name}`, which keeps its value during a simulation"),
    )
    .label(declared, "declared here")
    .hint(format!("declare `{name}` without `parameter` or `constant`, for example as `discrete`"))
}

#[cfg(test)]
mod tests {
    use crate::rules::run;
    use crate::testing::expect;

    #[track_caller]
    fn says(source: &str, expected: &str) {
        expect(run(super::check), source, expected);
    }

    #[test]
    fn two_when_clauses() {
        says(
            "Boolean open, full, close;
equation
  when open then close = false; end when;
  when full then close = true; end when;",
            "
E0401 4:18 `close`: `close` is assigned in two when-clauses
  3:18 `close`: assigned in this when-clause
  hint: both may fire at the same instant: join them to one `when … elsewhen …`, whose first branch has priority",
        );
    }

    #[test]
    fn branches_of_one_when_and_different_elements_are_no_conflict() {
        says(
            "Boolean a, b, c; Real x[2];
equation
  when a then c = false; elsewhen b then c = true; end when;
  when a then x[1] = time; end when;
  when b then x[2] = time; end when;
algorithm
  when a then b := true; end when;
  when c then b := false; end when;",
            "",
        );
    }

    #[test]
    fn an_element_and_the_whole_array() {
        says(
            "Boolean a, b; Real x[2];
equation
  when a then x[1] = time; end when;
  when b then x = {1.0, 2.0}; end when;",
            "
E0401 4:15 `x`: `x` is assigned in two when-clauses
  3:15 `x[1]`: assigned in this when-clause
  hint: both may fire at the same instant: join them to one `when … elsewhen …`, whose first branch has priority",
        );
    }

    #[test]
    fn a_when_clause_and_an_equation() {
        says(
            "Real x, q; Boolean b;
equation
  der(x) = q;
  when x > 1 then q = 2.0; b = true; end when;
  q = 3.0*time;
  b = x > 2;",
            "
E0402 5:3 `q = 3.0*time`: `q` is determined by this equation and by a when-clause
  4:19 `q`: assigned in this when-clause
  hint: a when-clause determines `q` at all times, not only at its events: remove one of the two
E0402 6:3 `b = x > 2`: `b` is determined by this equation and by a when-clause
  4:28 `b`: assigned in this when-clause
  hint: a when-clause determines `b` at all times, not only at its events: remove one of the two",
        );
    }

    #[test]
    fn an_equation_that_determines_something_else() {
        says(
            "Real x, y, q, w, u, z = 2*w; Boolean b, c;
equation
  der(x) = y;
  when x > 1 then q = 2.0; b = true; end when;
  q = 3.0*y;
  b = c;
  u = w;
  y = der(u);
algorithm
  z := time;",
            "",
        );
    }

    #[test]
    fn two_algorithm_sections() {
        says(
            "Real y, z;
algorithm
  y := 1.0;
  y := y + 1.0;
algorithm
  y := 2.0;
equation
  z = y;",
            "
E0403 6:3 `y`: `y` is assigned in two algorithm sections
  3:3 `y`: assigned in this algorithm section
  hint: algorithm sections have no order among each other: move the assignments into one section",
        );
    }

    #[test]
    fn a_binding_and_an_assignment() {
        says(
            "Real y = 0.5; Integer n = 1; Boolean b;
equation
  when b then n = 2; end when;
algorithm
  y := 1.0;",
            "
E0404 5:3 `y`: `y` has a value from its declaration and is assigned here
  1:10 `0.5`: value from the declaration
  hint: the `=` in a declaration is an equation; for a start value write `y(start = …)`
E0404 3:15 `n`: `n` has a value from its declaration and is assigned here
  1:27 `1`: value from the declaration
  hint: the `=` in a declaration is an equation; for a start value write `n(start = …)`",
        );
    }

    #[test]
    fn an_algorithm_and_an_equation() {
        says(
            "Real y;
algorithm
  y := 1.0;
equation
  y = time;",
            "
E0405 5:3 `y = time`: `y` is determined in an algorithm section and by an equation
  3:3 `y`: assigned in this algorithm section
  hint: an algorithm section determines all variables it assigns: remove one of the two",
        );
    }

    #[test]
    fn an_algorithm_that_is_solved_for_what_it_reads() {
        says("Real x, y; algorithm y := x*x; equation y = 1 + time;", "");
        says("Real x, y = 1 + time; algorithm y := x*x;", "");
        // x has an equation of its own, so there is one too many.
        says(
            "Real x, y;
algorithm
  y := x*x;
equation
  y = 1 + time;
  x = time;",
            "
E0405 5:3 `y = 1 + time`: `y` is determined in an algorithm section and by an equation
  3:3 `y`: assigned in this algorithm section
  hint: an algorithm section determines all variables it assigns: remove one of the two",
        );
    }

    #[test]
    fn a_parameter_is_not_assigned() {
        says(
            "parameter Real p = 1.0;
algorithm
  p := 2.0;",
            "
E0406 3:3 `p`: expected a variable, found the parameter `p`, which keeps its value during a simulation
  1:16 `p`: declared here
  hint: declare `p` without `parameter` or `constant`, for example as `discrete`",
        );
    }
}
