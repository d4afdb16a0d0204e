//! `reinit` sets a state, in a `when`, in one place (specification 8.3.6).
//!
//! ```text
//! when h < 0 then reinit(v, -e*pre(v)); end when;      fine if der(v) occurs
//! when h < 0 then reinit(y, 0); end when;              error: y has no derivative
//! ```
//!
//! A `reinit` that reads a state which another one sets at the same event gets the value before (8.3.6); that is worth a hint
//! where it is not written as `pre`.
//!
//! A variable equal to a state (`a = v` or `a = -v`, as from connections) counts as one. One that merely depends on a
//! state by an equation may be chosen as state instead, which is worth a warning.

use std::collections::{HashMap, HashSet};

use saltus_base::{Diagnostic, Diagnostics, Index, Span};
use saltus_flat::{
    BaseType, Builtin, Equation, EquationKind, Expr, ExprKind, Statement, StatementKind, UnaryOp, VarId, Variability,
};

use crate::diagnostics as codes;
use crate::facts::Context;
use crate::targets::{self, Region, Target};
use crate::text::text;
use crate::walk;

/// A `reinit` and where it stands.
struct Reinit<'a> {
    state: &'a Expr,
    value: &'a Expr,
    span: Span,
    /// Number of the top-level equation or algorithm and the condition of the `when`; `None` outside of one.
    when: Option<(usize, &'a Expr)>,
    /// Path of `if` branches inside the `when`.
    branch: usize,
}

impl Reinit<'_> {
    /// It gives a value where a state of a state machine is entered: any variable may have one.
    fn is_entry(&self) -> bool {
        let is_active = |e: &Expr| matches!(&e.kind, ExprKind::Builtin { function: Builtin::ActiveState, .. });
        self.when.is_some_and(|(_, condition)| is_active(condition))
    }
}

pub fn check(cx: Context<'_>, out: &mut Diagnostics) {
    let mut found = Vec::new();
    let mut next_branch = 0;
    for (number, equation) in cx.model.equations.iter().chain(&cx.model.initial_equations).enumerate() {
        collect_equations(std::slice::from_ref(equation), number, None, 0, &mut next_branch, &mut found);
    }
    let n_equations = cx.model.equations.len() + cx.model.initial_equations.len();
    for (number, algorithm) in cx.model.algorithms.iter().chain(&cx.model.initial_algorithms).enumerate() {
        collect_statements(&algorithm.statements, n_equations + number, None, 0, &mut next_branch, &mut found);
    }
    if found.is_empty() {
        return;
    }
    find_chains(cx, &found, out);
    let states = States::find(cx);
    let mut earlier: HashMap<(VarId, Region), usize> = HashMap::new();
    for (i, reinit) in found.iter().enumerate() {
        if reinit.when.is_none() {
            out.push(outside_when(cx, reinit));
        }
        let mut targets = Vec::new();
        if !targets::collect(cx.model, reinit.state, &mut targets) {
            out.push(not_a_variable(cx, reinit));
        }
        for target in targets {
            if !reinit.is_entry() {
                states.inspect(cx, target, out);
            }
            match earlier.get(&(target.variable, target.region)) {
                Some(&first) => twice(cx, target, &found[first], reinit, out),
                None => {
                    earlier.insert((target.variable, target.region), i);
                }
            }
        }
    }
}

fn collect_equations<'a>(
    list: &'a [Equation],
    number: usize,
    when: Option<(usize, &'a Expr)>,
    branch: usize,
    next_branch: &mut usize,
    out: &mut Vec<Reinit<'a>>,
) {
    for equation in list {
        match &equation.kind {
            EquationKind::Reinit { state, value } => {
                out.push(Reinit { state, value, span: equation.span, when, branch });
            }
            EquationKind::If { branches, otherwise } => {
                for body in branches.iter().map(|(_, body)| body).chain([otherwise]) {
                    *next_branch += 1;
                    let branch = *next_branch;
                    collect_equations(body, number, when, branch, next_branch, out);
                }
            }
            EquationKind::When { branches } => {
                for (condition, body) in branches {
                    *next_branch += 1;
                    let branch = *next_branch;
                    collect_equations(body, number, Some((number, condition)), branch, next_branch, out);
                }
            }
            _ => {}
        }
    }
}

fn collect_statements<'a>(
    list: &'a [Statement],
    number: usize,
    when: Option<(usize, &'a Expr)>,
    branch: usize,
    next_branch: &mut usize,
    out: &mut Vec<Reinit<'a>>,
) {
    for statement in list {
        match &statement.kind {
            StatementKind::Reinit { state, value } => {
                out.push(Reinit { state, value, span: statement.span, when, branch });
            }
            StatementKind::If { branches, otherwise } => {
                for body in branches.iter().map(|(_, body)| body).chain([otherwise]) {
                    *next_branch += 1;
                    let branch = *next_branch;
                    collect_statements(body, number, when, branch, next_branch, out);
                }
            }
            StatementKind::For { body, .. } | StatementKind::While { body, .. } => {
                collect_statements(body, number, when, branch, next_branch, out);
            }
            StatementKind::When { branches } => {
                for (condition, body) in branches {
                    *next_branch += 1;
                    let branch = *next_branch;
                    collect_statements(body, number, Some((number, condition)), branch, next_branch, out);
                }
            }
            _ => {}
        }
    }
}

/// Variables that are states, equal to one, or in an equation with one.
struct States {
    parent: Vec<usize>,
    is_state: Vec<bool>,
    depends: HashSet<usize>,
}

impl States {
    fn find(cx: Context<'_>) -> States {
        let n = cx.model.variables.len();
        let mut states = States { parent: (0..n).collect(), is_state: vec![false; n], depends: HashSet::new() };
        for equation in &cx.model.equations {
            if let EquationKind::Equality { left, right } = &equation.kind
                && let (Some(a), Some(b)) = (alias(cx, left), alias(cx, right))
            {
                states.join(a.index(), b.index());
            }
        }
        for (id, variable) in cx.model.variables.iter() {
            if let Some(other) = variable.binding.as_ref().and_then(|b| alias(cx, b)) {
                states.join(id.index(), other.index());
            }
        }
        states.flatten();
        for id in cx.model.variables.ids().filter(|&id| cx.facts.of(id).has_derivative) {
            let root = states.root(id.index());
            states.is_state[root] = true;
        }
        for equation in &cx.model.equations {
            if let EquationKind::Equality { left, right } = &equation.kind {
                states.link(&[left, right], None);
            }
        }
        for (id, variable) in cx.model.variables.iter() {
            if let Some(binding) = &variable.binding {
                states.link(&[binding], Some(id));
            }
        }
        states
    }

    /// The representative of a class, after [`States::flatten`].
    fn root(&self, i: usize) -> usize {
        self.parent[i]
    }

    /// Lets every variable point to its representative; parents come before their children.
    fn flatten(&mut self) {
        for i in 0..self.parent.len() {
            self.parent[i] = self.parent[self.parent[i]];
        }
    }

    /// Joins two classes, halving the paths on the way so that later walks are short.
    fn join(&mut self, a: usize, b: usize) {
        let n = self.parent.len();
        if a >= n || b >= n {
            return;
        }
        let (mut a, mut b) = (a, b);
        for i in [&mut a, &mut b] {
            while self.parent[*i] != *i {
                self.parent[*i] = self.parent[self.parent[*i]];
                *i = self.parent[*i];
            }
        }
        self.parent[a.max(b)] = a.min(b);
    }

    /// Notes that the variables of an equation depend on each other if a state is among them.
    fn link(&mut self, sides: &[&Expr], also: Option<VarId>) {
        let mut members: Vec<usize> = also.iter().map(|v| v.index()).collect();
        for side in sides {
            walk::for_each_part(side, &mut |part| {
                if let ExprKind::Var(v) = part.kind {
                    members.push(v.index());
                }
            });
        }
        members.retain(|&m| m < self.parent.len());
        if members.iter().any(|&m| self.is_state[self.root(m)]) {
            let roots: Vec<usize> = members.iter().map(|&m| self.root(m)).collect();
            self.depends.extend(roots);
        }
    }

    fn inspect(&self, cx: Context<'_>, target: Target, out: &mut Diagnostics) {
        let Some(variable) = cx.model.variables.get(target.variable) else { return };
        let root = self.root(target.variable.index());
        let is_continuous = variable.ty.base == BaseType::Real
            && variable.variability == Variability::Continuous
            && !cx.facts.of(target.variable).in_when;
        if is_continuous && self.is_state[root] {
            return;
        }
        if is_continuous && self.depends.contains(&root) {
            out.push(of_dependent(&variable.name, target.span, variable.span));
        } else {
            out.push(of_non_state(&variable.name, target.span, variable.span, is_continuous));
        }
    }
}

/// `x` of `x` and `-x`
fn alias(cx: Context<'_>, expr: &Expr) -> Option<VarId> {
    match &expr.kind {
        ExprKind::Var(v) if !cx.is_parameter(*v) => Some(*v),
        ExprKind::Unary(UnaryOp::Negate, inner) => match inner.kind {
            ExprKind::Var(v) if !cx.is_parameter(v) => Some(v),
            _ => None,
        },
        _ => None,
    }
}

fn twice(cx: Context<'_>, target: Target, first: &Reinit<'_>, second: &Reinit<'_>, out: &mut Diagnostics) {
    let (Some((number_1, condition_1)), Some((number_2, condition_2))) = (first.when, second.when) else { return };
    let name = text(cx.model, second.state);
    let message = if number_1 == number_2 {
        if first.branch != second.branch {
            return;
        }
        format!("`{name}` is set twice by `reinit` in the same when-clause")
    } else {
        let (one, two) = (text(cx.model, condition_1), text(cx.model, condition_2));
        if one == two {
            format!("`{name}` is set by `reinit` in two when-clauses that fire at the same instant, both on `{one}`")
        } else {
            format!("`{name}` is set by `reinit` in two when-clauses, on `{one}` and on `{two}`")
        }
    };
    out.push(
        Diagnostic::new(codes::REINIT_TWICE, target.span, message)
            .label(first.state.span, "set here as well")
            .hint("if both are active the result is not defined: join them to one `when … elsewhen …`"),
    );
}

/// Reports each `reinit` whose value depends on a state that another one sets whenever it acts.
fn find_chains(cx: Context<'_>, found: &[Reinit<'_>], out: &mut Diagnostics) {
    // Those of one branch act together, and so do those of clauses with the same condition.
    let group = |r: &Reinit<'_>| Some((r.branch, text(cx.model, r.when?.1)));
    let mut set: HashMap<VarId, Vec<usize>> = HashMap::new();
    for (i, reinit) in found.iter().enumerate() {
        if let ExprKind::Var(state) = reinit.state.kind {
            set.entry(state).or_default().push(i);
        }
    }
    for (i, reinit) in found.iter().enumerate() {
        let Some((branch, condition)) = group(reinit) else { continue };
        walk::for_each_part_while(reinit.value, &mut |part| {
            if let ExprKind::Var(read) = part.kind {
                let setters = set.get(&read).into_iter().flatten().filter(|&&k| k != i).map(|&k| &found[k]);
                let together = |r: &&Reinit<'_>| group(r).is_some_and(|(b, c)| b == branch || c == condition);
                if let Some(setter) = setters.into_iter().find(together) {
                    out.push(chain(cx, part, setter));
                }
            }
            !matches!(part.kind, ExprKind::Builtin { function: Builtin::Pre, .. })
        });
    }
}

fn chain(cx: Context<'_>, read: &Expr, setter: &Reinit<'_>) -> Diagnostic {
    let (name, value) = (text(cx.model, read), text(cx.model, setter.value));
    Diagnostic::new(
        codes::REINIT_CHAIN,
        read.span,
        format!("`{name}` is the value before the event here, though it is set to `{value}` at the same event"),
    )
    .label(setter.span, "set here, together with it")
    .hint(format!("write `pre({name})` if that is meant, else `{value}`; in the Modelica of 1999 it was the new value"))
}

fn outside_when(cx: Context<'_>, reinit: &Reinit<'_>) -> Diagnostic {
    let (state, value) = (text(cx.model, reinit.state), text(cx.model, reinit.value));
    Diagnostic::new(
        codes::REINIT_OUTSIDE_WHEN,
        reinit.span,
        "expected `reinit` in the body of a when-clause, found it outside",
    )
    .hint(format!(
        "write `when … then reinit({state}, {value}); end when;`; for a value at the start use an initial equation"
    ))
}

fn not_a_variable(cx: Context<'_>, reinit: &Reinit<'_>) -> Diagnostic {
    let state = text(cx.model, reinit.state);
    Diagnostic::new(
        codes::REINIT_OF_NON_STATE,
        reinit.state.span,
        format!("expected a state in `reinit`, found `{state}`"),
    )
    .hint("the first argument is a variable `x` for which `der(x)` occurs")
}

fn of_non_state(name: &str, span: Span, declared: Span, is_continuous: bool) -> Diagnostic {
    let d = if is_continuous {
        Diagnostic::new(
            codes::REINIT_OF_NON_STATE,
            span,
            format!("expected a state in `reinit`, found `{name}`: `der({name})` occurs nowhere"),
        )
        .hint(format!("a variable without a derivative is assigned directly: `{name} = …` in the when-clause"))
    } else {
        Diagnostic::new(
            codes::REINIT_OF_NON_STATE,
            span,
            format!("expected a state in `reinit`, found `{name}`, which does not change continuously"),
        )
        .hint(format!("a discrete variable is assigned: `{name} = …` in the when-clause"))
    };
    d.label(declared, "declared here")
}

fn of_dependent(name: &str, span: Span, declared: Span) -> Diagnostic {
    Diagnostic::new(
        codes::REINIT_OF_DEPENDENT,
        span,
        format!("`{name}` has no derivative of its own: `reinit` makes it a state in place of one that depends on it"),
    )
    .label(declared, "declared here")
    .hint("apply `reinit` to the variable in `der(…)`")
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
    fn bouncing_ball_and_an_alias_are_fine() {
        says(
            "Real h, v, w;
equation
  der(h) = v;
  der(v) = -9.81;
  w = -v;
  when h < 0 then reinit(v, -0.7*pre(v)); elsewhen h > 9 then reinit(v, 0.0); end when;
  when time > 1 then if h > 0 then reinit(h, 1.0); else reinit(h, 2.0); end if; reinit(w, 1.0); end when;",
            "",
        );
    }

    #[test]
    fn a_chain_at_one_event_reads_the_values_before() {
        // Today 10, 2·x before, 2·y before; in 1999 10, 20, 40.
        says(
            "Real x(start = 1.0), y(start = 2.0), z;
equation
  der(x) = 0.0; der(y) = 0.0; der(z) = 0.0;
  when time > 1 then reinit(x, 10.0); reinit(y, 2*x); reinit(z, 2*pre(y)); end when;
  when time > 2 then reinit(z, 2*z); end when;",
            "
H0423 4:51 `x`: `x` is the value before the event here, though it is set to `10.0` at the same event
  4:22 `reinit(x, 10.0)`: set here, together with it
  hint: write `pre(x)` if that is meant, else `10.0`; in the Modelica of 1999 it was the new value
W0422 5:29 `z`: `z` is set by `reinit` in two when-clauses, on `time > 1` and on `time > 2`
  4:62 `z`: set here as well
  hint: if both are active the result is not defined: join them to one `when … elsewhen …`",
        );
    }

    #[test]
    fn outside_of_when() {
        says(
            "Real v;
equation
  der(v) = 1.0;
  reinit(v, 0.0);",
            "
E0420 4:3 `reinit(v, 0.0)`: expected `reinit` in the body of a when-clause, found it outside
  hint: write `when … then reinit(v, 0.0); end when;`; for a value at the start use an initial equation",
        );
    }

    #[test]
    fn of_what_is_no_state() {
        says(
            "Real v, y, z; Integer n;
equation
  der(v) = 1.0;
  y = 2.0*v;
  z = sin(time);
  when v > 1 then
    reinit(y, 0.0);
    reinit(z, 0.0);
    reinit(n, 0);
    reinit(2*v, 0.0);
  end when;",
            "
W0421 7:12 `y`: `y` has no derivative of its own: `reinit` makes it a state in place of one that depends on it
  1:9 `y`: declared here
  hint: apply `reinit` to the variable in `der(…)`
E0421 8:12 `z`: expected a state in `reinit`, found `z`: `der(z)` occurs nowhere
  1:12 `z`: declared here
  hint: a variable without a derivative is assigned directly: `z = …` in the when-clause
E0421 9:12 `n`: expected a state in `reinit`, found `n`, which does not change continuously
  1:23 `n`: declared here
  hint: a discrete variable is assigned: `n = …` in the when-clause
E0421 10:12 `2*v`: expected a state in `reinit`, found `2 * v`
  hint: the first argument is a variable `x` for which `der(x)` occurs",
        );
    }

    #[test]
    fn twice() {
        says(
            "Real v, w, x; Boolean b;
equation
  der(v) = 1.0; der(w) = 1.0; der(x) = 1.0;
  when b then reinit(v, 0.0); reinit(x, 1.0); reinit(x, 2.0); end when;
  when b then reinit(v, 1.0); reinit(w, 1.0); end when;
  when v > 1 then reinit(w, 2.0); end when;",
            "
W0422 4:54 `x`: `x` is set twice by `reinit` in the same when-clause
  4:38 `x`: set here as well
  hint: if both are active the result is not defined: join them to one `when … elsewhen …`
W0422 5:22 `v`: `v` is set by `reinit` in two when-clauses that fire at the same instant, both on `b`
  4:22 `v`: set here as well
  hint: if both are active the result is not defined: join them to one `when … elsewhen …`
W0422 6:26 `w`: `w` is set by `reinit` in two when-clauses, on `b` and on `v > 1`
  5:38 `w`: set here as well
  hint: if both are active the result is not defined: join them to one `when … elsewhen …`",
        );
    }
}
