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
//! Fields of records and elements of arrays have values of their own ([`parts`]). Loops are taken to run at least once, and an assignment by a
//! subscript that is not known is one of the whole array: what is reported as an error cannot have a value whichever way the algorithm goes.
//! Elements without a value count as zero, and are a warning. Warnings are for functions of the user's own files.

mod parts;

use std::collections::BTreeSet;

use saltus_base::{Diagnostic, Diagnostics, FileId, Index, Span};
use saltus_flat::{Builtin, Expr, ExprKind, ExternalArgument, Function, LocalId, Statement, StatementKind, Subscript};

use self::parts::{Part, Rounds, Selection};
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
        let mut paths = Paths::new(function, cx);
        paths.statements(&function.body);
        if let Some(external) = &function.external {
            paths.found.iter_mut().flatten().for_each(|f| *f = Found::Always);
            let given = |id: &LocalId| {
                let outputs = external.arguments.iter().any(|a| matches!(a, ExternalArgument::Output(o) if o == id));
                outputs || external.result == Some(*id) || function.locals[*id].default.is_some()
            };
            function.outputs.iter().filter(|id| !given(id)).for_each(|&id| paths.set_all(id, Found::Never));
        }
        if paths.is_reached {
            function.outputs.iter().for_each(|&output| paths.read_all(output, None));
        }
        let is_own = files.contains(&function.span.file);
        let reports = paths.reports.into_iter().filter(|r| is_own || r.is_certain() && r.at.is_some());
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
    missing: Missing,
    /// Where it is read; `None` where the function ends.
    at: Option<Span>,
}

/// What of a variable has no value.
enum Missing {
    All,
    /// A scalar field, which is what is read.
    Field(String),
    /// Something of what is read; or an element.
    Some(String),
}

impl Report {
    /// Is it an error?
    fn is_certain(&self) -> bool {
        self.found == Found::Never && !matches!(self.missing, Missing::Some(_))
    }
}

struct Paths<'f> {
    function: &'f Function,
    parts: Vec<Vec<Part>>,
    rounds: Rounds,
    /// By local and part.
    found: Vec<Vec<Found>>,
    /// Does any way lead to the present place?
    is_reached: bool,
    reported: BTreeSet<LocalId>,
    reports: Vec<Report>,
}

impl<'f> Paths<'f> {
    fn new(function: &'f Function, cx: Context<'_>) -> Self {
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
        let parts: Vec<Vec<Part>> = function.locals.values().map(|l| parts::of(&l.ty, &cx.model.records)).collect();
        let found =
            function.locals.iter().zip(&parts).map(|((id, l), parts)| vec![found(id, l); parts.len()]).collect();
        let rounds = parts::rounds(function);
        Paths { function, parts, rounds, found, is_reached: true, reported: BTreeSet::new(), reports: Vec::new() }
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
                self.found.iter_mut().flatten().filter(|f| **f == Found::Sometimes).for_each(|f| *f = Found::Always);
            }
            StatementKind::Return => {
                for &output in &self.function.outputs {
                    self.read_all(output, None);
                }
                self.is_reached = false;
            }
            StatementKind::Break | StatementKind::Terminate { .. } => self.is_reached = false,
            StatementKind::When { .. } | StatementKind::Reinit { .. } => {}
        }
    }

    fn branches(&mut self, branches: &[(Expr, Vec<Statement>)], otherwise: &[Statement]) {
        let before = self.found.clone();
        let mut after: Option<Vec<Vec<Found>>> = None;
        let bodies = branches.iter().map(|(c, body)| (Some(c), body.as_slice())).chain([(None, otherwise)]);
        for (condition, body) in bodies {
            self.found.clone_from(&before);
            self.is_reached = true;
            condition.into_iter().for_each(|c| self.reads(c));
            self.statements(body);
            if self.is_reached {
                after = Some(match after {
                    None => self.found.clone(),
                    Some(other) => other.iter().zip(&self.found).map(|(a, b)| joined(a, b)).collect(),
                });
            }
        }
        self.is_reached = after.is_some();
        self.found = after.unwrap_or(before);
    }

    /// What a loop assigns anywhere may have a value from the round before.
    fn body_of_loop(&mut self, body: &[Statement]) {
        let mut assigned = Vec::new();
        collect_targets(body, &self.rounds, &mut assigned);
        for selection in assigned {
            self.update(&selection, |found| if found == Found::Never { Found::Always } else { found });
        }
        self.statements(body);
        self.is_reached = true;
    }

    fn assign(&mut self, target: &Expr) {
        let mut assigned = Vec::new();
        targets(target, &self.rounds, &mut assigned);
        assigned.iter().for_each(|selection| self.update(selection, |_| Found::Always));
    }

    fn update(&mut self, selection: &Selection, becomes: impl Fn(Found) -> Found) {
        let id = selection.local.index();
        let (Some(found), Some(parts)) = (self.found.get_mut(id), self.parts.get(id)) else { return };
        found.iter_mut().zip(parts).filter(|(_, part)| selection.contains(part)).for_each(|(f, _)| *f = becomes(*f));
    }

    fn set_all(&mut self, id: LocalId, found: Found) {
        self.found.get_mut(id.index()).into_iter().flatten().for_each(|f| *f = found);
    }

    /// All variables of an expression whose values it needs.
    fn reads(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Local(id) => self.read_all(*id, Some(expr.span)),
            ExprKind::Index { .. } | ExprKind::Field { .. } => {
                let selection = Selection::of(expr, &self.rounds);
                match selection {
                    Some(selection) => {
                        self.subscripts(expr);
                        self.read(&selection, Some(expr.span));
                    }
                    None => expr.for_each_child(&mut |child| self.reads(child)),
                }
            }
            ExprKind::Builtin { function: Builtin::Size | Builtin::Ndims, arguments } => {
                arguments.iter().skip(1).for_each(|e| self.reads(e));
            }
            _ => expr.for_each_child(&mut |child| self.reads(child)),
        }
    }

    /// What the subscripts of a part of a variable read.
    fn subscripts(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Field { base, .. } => self.subscripts(base),
            ExprKind::Index { base, subscripts } => {
                self.subscripts(base);
                for subscript in subscripts {
                    if let Subscript::Index(e) | Subscript::Slice(e) = subscript {
                        self.reads(e);
                    }
                }
            }
            _ => {}
        }
    }

    fn read_all(&mut self, id: LocalId, at: Option<Span>) {
        self.read(&Selection::all(id), at);
    }

    fn read(&mut self, selection: &Selection, at: Option<Span>) {
        let id = selection.local;
        let (Some(found), Some(parts)) = (self.found.get(id.index()), self.parts.get(id.index())) else { return };
        let selected = || found.iter().zip(parts).filter(|(_, part)| selection.contains(part));
        let Some((&first, part)) = selected().find(|(f, _)| **f != Found::Always) else { return };
        // One element after the other: reading those that have values may be what the algorithm decides.
        if !selected().all(|(f, part)| *f == Found::Never || selection.is_exact(part)) {
            return;
        }
        let missing = if found.iter().all(|f| *f == first) {
            Missing::All
        } else if part.is_field && selected().count() == 1 {
            Missing::Field(part.name.clone())
        } else {
            Missing::Some(part.name.clone())
        };
        if self.reported.insert(id) {
            self.reports.push(Report { local: id, found: first, missing, at });
        }
    }
}

fn joined(a: &[Found], b: &[Found]) -> Vec<Found> {
    a.iter().zip(b).map(|(a, b)| if a == b { *a } else { Found::Sometimes }).collect()
}

fn collect_targets(list: &[Statement], rounds: &Rounds, out: &mut Vec<Selection>) {
    for statement in list {
        match &statement.kind {
            StatementKind::Assign { target, .. } => targets(target, rounds, out),
            StatementKind::If { branches, otherwise } => {
                branches.iter().for_each(|(_, body)| collect_targets(body, rounds, out));
                collect_targets(otherwise, rounds, out);
            }
            StatementKind::For { body, .. } | StatementKind::While { body, .. } => collect_targets(body, rounds, out),
            _ => {}
        }
    }
}

/// What an assignment changes; variables in subscripts are not among it.
fn targets(target: &Expr, rounds: &Rounds, out: &mut Vec<Selection>) {
    match Selection::of(target, rounds) {
        Some(selection) => out.push(selection),
        None => match &target.kind {
            ExprKind::Index { base, .. } | ExprKind::Field { base, .. } => targets(base, rounds, out),
            _ => target.for_each_child(&mut |child| targets(child, rounds, out)),
        },
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
    let f = &function.name;
    let name = match &report.missing {
        Missing::All => local.name.clone(),
        Missing::Field(part) | Missing::Some(part) => format!("{}{part}", local.name),
    };
    let declared = if local.span.is_nowhere() { function.span } else { local.span };
    let span = report.at.filter(|s| !s.is_nowhere()).unwrap_or(declared);
    let hint =
        format!("assign `{name}` before, whichever way the algorithm goes, or give it a value where it is declared");
    let (code, text) = match (&report.missing, report.found, report.at) {
        (Missing::Some(_), found, Some(_)) => {
            let has = if found == Found::Never { "has" } else { "may have" };
            let text = format!("`{name}` {has} no value where `{}` is used in the function `{f}`", local.name);
            (codes::PART_WITHOUT_VALUE, text)
        }
        (Missing::Some(_), found, None) => {
            let returns = if found == Found::Never { "returns" } else { "may return" };
            (codes::PART_WITHOUT_VALUE, format!("the function `{f}` {returns} before `{name}` has a value"))
        }
        (_, Found::Never, Some(_)) => {
            (codes::USED_WITHOUT_VALUE, format!("`{name}` is used in the function `{f}` before it has a value"))
        }
        (_, _, Some(_)) => (
            codes::USED_PERHAPS_WITHOUT_VALUE,
            format!("`{name}` may be used in the function `{f}` before it has a value"),
        ),
        (_, Found::Never, None) => {
            (codes::OUTPUT_NEVER_ASSIGNED, format!("the output `{name}` of the function `{f}` is never assigned"))
        }
        (_, _, None) => (
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
