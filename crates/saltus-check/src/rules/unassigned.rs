//! A function neither uses nor returns a variable that has no value (specification 12.4.4).
//!
//! ```text
//! function f input Real u; output Real y; protected Real w;
//! algorithm
//!   y := u + w;                           error: w has no value here
//!   if u > 1 then w := 2; end if;         what reads w now gets a warning
//! end f;
//! ```
//!
//! Loops are taken to run at least once, and an assignment of one element is one of the whole array: what is reported as an
//! error cannot have a value whichever way the algorithm goes. Warnings are for functions of the user's own files.

use std::collections::BTreeSet;

use saltus_base::{Diagnostic, Diagnostics, FileId, Index, Span};
use saltus_flat::{Builtin, Expr, ExprKind, ExternalArgument, Function, LocalId, Statement, StatementKind};

use super::unused::own_files;
use crate::diagnostics as codes;
use crate::facts::Context;
use crate::walk;

pub fn check(cx: Context<'_>, out: &mut Diagnostics) {
    let files: Vec<FileId> = own_files(cx);
    for function in cx.model.functions.values() {
        if function.is_record_constructor || function.external.is_none() && function.body.is_empty() {
            continue;
        }
        let mut paths = Paths::new(function);
        paths.statements(&function.body);
        if let Some(external) = &function.external {
            paths.found.iter_mut().for_each(|f| *f = Found::Always);
            let given = |id: &LocalId| {
                let outputs = external.arguments.iter().any(|a| matches!(a, ExternalArgument::Output(o) if o == id));
                outputs || external.result == Some(*id) || function.locals[*id].default.is_some()
            };
            function.outputs.iter().filter(|id| !given(id)).for_each(|&id| paths.set(id, Found::Never));
        }
        if paths.is_reached {
            function.outputs.iter().for_each(|&output| paths.read(output, None));
        }
        let is_own = files.contains(&function.span.file);
        let reports = paths.reports.into_iter().filter(|r| is_own || r.found == Found::Never && r.at.is_some());
        out.extend(reports.map(|r| message(function, &r)));
    }
}

/// Whether a variable has a value at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Found {
    Never,
    Sometimes,
    Always,
}

struct Report {
    local: LocalId,
    found: Found,
    /// Where it is read; `None` where the function ends.
    at: Option<Span>,
}

struct Paths<'f> {
    function: &'f Function,
    found: Vec<Found>,
    /// Does any way lead to the present place?
    is_reached: bool,
    reported: BTreeSet<LocalId>,
    reports: Vec<Report>,
}

impl<'f> Paths<'f> {
    fn new(function: &'f Function) -> Self {
        let mut iterators = BTreeSet::new();
        collect_iterators(function, &mut iterators);
        let found = |id: LocalId, local: &saltus_flat::Local| {
            let has_value = local.default.is_some() || function.inputs.contains(&id) || iterators.contains(&id);
            if has_value || local.ty.n_elements() == Some(0) || local.has_open_size() {
                Found::Always
            } else {
                Found::Never
            }
        };
        let found = function.locals.iter().map(|(id, local)| found(id, local)).collect();
        Paths { function, found, is_reached: true, reported: BTreeSet::new(), reports: Vec::new() }
    }

    fn statements(&mut self, list: &[Statement]) {
        for statement in list {
            if !self.is_reached {
                return;
            }
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                self.reads(value);
                self.assign(target);
            }
            StatementKind::If { branches, otherwise } => self.branches(branches, otherwise),
            StatementKind::For { range, body, .. } => {
                self.reads(range);
                self.body_of_loop(body);
            }
            StatementKind::While { condition, body } => {
                self.reads(condition);
                self.body_of_loop(body);
            }
            StatementKind::Assert { condition, .. } => {
                self.reads(condition);
                self.is_reached = !matches!(condition.kind, ExprKind::Boolean(false));
            }
            // Who calls a function without results may do it to report an error.
            StatementKind::Call(call) => {
                self.reads(call);
                self.found.iter_mut().filter(|f| **f == Found::Sometimes).for_each(|f| *f = Found::Always);
            }
            StatementKind::Return => {
                for &output in &self.function.outputs {
                    self.read(output, None);
                }
                self.is_reached = false;
            }
            StatementKind::Break | StatementKind::Terminate { .. } => self.is_reached = false,
            StatementKind::When { .. } | StatementKind::Reinit { .. } => {}
        }
    }

    fn branches(&mut self, branches: &[(Expr, Vec<Statement>)], otherwise: &[Statement]) {
        let before = self.found.clone();
        let mut after: Option<Vec<Found>> = None;
        let bodies = branches.iter().map(|(c, body)| (Some(c), body.as_slice())).chain([(None, otherwise)]);
        for (condition, body) in bodies {
            self.found.clone_from(&before);
            self.is_reached = true;
            condition.into_iter().for_each(|c| self.reads(c));
            self.statements(body);
            if self.is_reached {
                after = Some(match after {
                    None => self.found.clone(),
                    Some(other) => other.iter().zip(&self.found).map(|(&a, &b)| joined(a, b)).collect(),
                });
            }
        }
        self.is_reached = after.is_some();
        self.found = after.unwrap_or(before);
    }

    /// What a loop assigns anywhere may have a value from the round before.
    fn body_of_loop(&mut self, body: &[Statement]) {
        let mut assigned = BTreeSet::new();
        collect_targets(body, &mut assigned);
        for id in assigned {
            if let Some(found) = self.found.get_mut(id.index()).filter(|f| **f == Found::Never) {
                *found = Found::Always;
            }
        }
        self.statements(body);
        self.is_reached = true;
    }

    fn assign(&mut self, target: &Expr) {
        let mut assigned = BTreeSet::new();
        targets(target, &mut assigned);
        assigned.into_iter().for_each(|id| self.set(id, Found::Always));
    }

    fn set(&mut self, id: LocalId, found: Found) {
        if let Some(place) = self.found.get_mut(id.index()) {
            *place = found;
        }
    }

    /// All variables of an expression whose values it needs.
    fn reads(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Local(id) => self.read(*id, Some(expr.span)),
            ExprKind::Builtin { function: Builtin::Size | Builtin::Ndims, arguments } => {
                arguments.iter().skip(1).for_each(|e| self.reads(e));
            }
            _ => expr.for_each_child(&mut |child| self.reads(child)),
        }
    }

    fn read(&mut self, id: LocalId, at: Option<Span>) {
        let found = self.found.get(id.index()).copied().unwrap_or(Found::Always);
        if found != Found::Always && self.reported.insert(id) {
            self.reports.push(Report { local: id, found, at });
        }
    }
}

fn joined(a: Found, b: Found) -> Found {
    if a == b { a } else { Found::Sometimes }
}

fn collect_targets(list: &[Statement], out: &mut BTreeSet<LocalId>) {
    for statement in list {
        match &statement.kind {
            StatementKind::Assign { target, .. } => targets(target, out),
            StatementKind::If { branches, otherwise } => {
                branches.iter().for_each(|(_, body)| collect_targets(body, out));
                collect_targets(otherwise, out);
            }
            StatementKind::For { body, .. } | StatementKind::While { body, .. } => collect_targets(body, out),
            _ => {}
        }
    }
}

/// The variables that an assignment changes; subscripts are not among them.
fn targets(target: &Expr, out: &mut BTreeSet<LocalId>) {
    match &target.kind {
        ExprKind::Local(id) => {
            out.insert(*id);
        }
        ExprKind::Index { base, .. } => targets(base, out),
        ExprKind::Field { base, .. } => targets(base, out),
        _ => target.for_each_child(&mut |child| targets(child, out)),
    }
}

fn collect_iterators(function: &Function, out: &mut BTreeSet<LocalId>) {
    fn loops(list: &[Statement], out: &mut BTreeSet<LocalId>) {
        for statement in list {
            match &statement.kind {
                StatementKind::For { local, body, .. } => {
                    out.insert(*local);
                    loops(body, out);
                }
                StatementKind::If { branches, otherwise } => {
                    branches.iter().for_each(|(_, body)| loops(body, out));
                    loops(otherwise, out);
                }
                StatementKind::While { body, .. } => loops(body, out),
                _ => {}
            }
        }
    }
    loops(&function.body, out);
    let place = walk::Place { section: walk::Section::Algorithm, in_when: false };
    let mut reductions = |root: &Expr| {
        walk::for_each_part(root, &mut |part| {
            if let ExprKind::Reduction { iterators, .. } = &part.kind {
                out.extend(iterators.iter().map(|i| i.local));
            }
        });
    };
    walk::statements(&function.body, place, &mut |root, _| reductions(root));
    function.locals.values().flat_map(|l| l.default.iter().chain(l.sizes.iter().flatten())).for_each(reductions);
}

fn message(function: &Function, report: &Report) -> Diagnostic {
    let local = &function.locals[report.local];
    let (f, name) = (&function.name, &local.name);
    let declared = if local.span.is_nowhere() { function.span } else { local.span };
    let span = report.at.filter(|s| !s.is_nowhere()).unwrap_or(declared);
    let hint =
        format!("assign `{name}` before, whichever way the algorithm goes, or give it a value where it is declared");
    let (code, text) = match (report.found, report.at) {
        (Found::Never, Some(_)) => {
            (codes::USED_WITHOUT_VALUE, format!("`{name}` is used in the function `{f}` before it has a value"))
        }
        (_, Some(_)) => (
            codes::USED_PERHAPS_WITHOUT_VALUE,
            format!("`{name}` may be used in the function `{f}` before it has a value"),
        ),
        (Found::Never, None) => {
            (codes::OUTPUT_NEVER_ASSIGNED, format!("the output `{name}` of the function `{f}` is never assigned"))
        }
        (_, None) => (
            codes::USED_PERHAPS_WITHOUT_VALUE,
            format!("the function `{f}` may return before its output `{name}` has a value"),
        ),
    };
    Diagnostic::new(code, span, text).hint(hint)
}

#[cfg(test)]
mod tests {
    use crate::rules::run;
    use crate::testing::expect;

    #[track_caller]
    fn says(body: &str, expected: &str) {
        let source = format!(
            "function f
  input Real u; output Real y; protected Real w;
algorithm
{body}
end f;
Real x;
equation
  x = f(time);"
        );
        expect(run(super::check), &source, expected);
    }

    #[test]
    fn a_value_on_no_way_is_an_error() {
        says(
            "  y := u + w;",
            "
E0417 4:12 `w`: `w` is used in the function `f` before it has a value
  hint: assign `w` before, whichever way the algorithm goes, or give it a value where it is declared",
        );
        says(
            "  w := u;",
            "
W0733 2:29 `y`: the output `y` of the function `f` is never assigned
  hint: assign `y` before, whichever way the algorithm goes, or give it a value where it is declared",
        );
    }

    #[test]
    fn a_value_on_some_ways_is_a_warning() {
        says(
            "  if u > 1 then y := 2; end if;",
            "
W0417 2:29 `y`: the function `f` may return before its output `y` has a value
  hint: assign `y` before, whichever way the algorithm goes, or give it a value where it is declared",
        );
        says(
            "  if u > 1 then w := 2; end if; y := w;",
            "
W0417 4:38 `w`: `w` may be used in the function `f` before it has a value
  hint: assign `w` before, whichever way the algorithm goes, or give it a value where it is declared",
        );
    }

    #[test]
    fn loops_elements_and_ways_that_end() {
        says("  w := u; while w > 1 loop w := w - 1; y := w; end while;", "");
        says("  while u > 1 loop if w > 1 then y := w; end if; w := u; end while;", "");
        says("  if u > 1 then y := 2; else assert(false, \"too small\"); end if;", "");
    }
}
