//! Hints about what nothing uses: parameters and protected variables of the model itself, and variables of functions
//! that stand in the same files. Components from libraries have many of both and are not the user's business.
//!
//! ```text
//! parameter Real k = 2;      hint: never used
//! function f … input Real y; end f;        hint: y is never used
//! ```

use saltus_base::{Diagnostic, Diagnostics, FileId, Index, Span};
use saltus_flat::count::component_of;
use saltus_flat::{
    Expr, ExprKind, ExternalArgument, Function, Local, LocalId, Statement, StatementKind, Variability, Variable,
};

use crate::diagnostics as codes;
use crate::facts::Context;
use crate::walk::{self, Place, Section};

/// More hints than this of one kind are noise.
const MOST: usize = 50;

pub fn check(cx: Context<'_>, out: &mut Diagnostics) {
    let mut n = 0;
    for (id, variable) in cx.model.variables.iter() {
        if n < MOST && component_of(&variable.name).is_empty() && cx.facts.of(id).n_references == 0 {
            let hint = unused(variable);
            n += usize::from(hint.is_some());
            out.extend(hint);
        }
    }
    let files = own_files(cx);
    for function in cx.model.functions.values().filter(|f| files.contains(&f.span.file)).take(MOST) {
        check_function(function, out);
    }
}

/// The files that declare the variables at the top of the model.
pub fn own_files(cx: Context<'_>) -> Vec<FileId> {
    let mut files: Vec<FileId> = Vec::new();
    for variable in cx.model.variables.values() {
        let file = variable.span.file;
        if component_of(&variable.name).is_empty() && !variable.span.is_nowhere() && files.last() != Some(&file) {
            files.push(file);
        }
    }
    files.sort_unstable();
    files.dedup();
    files
}

fn unused(variable: &Variable) -> Option<Diagnostic> {
    let name = &variable.name;
    if variable.variability == Variability::Parameter && !variable.is_structural && !variable.is_final {
        return Some(
            Diagnostic::new(codes::UNUSED_PARAMETER, variable.span, format!("the parameter `{name}` is never used"))
                .hint("remove it, or use it: changing its value changes nothing"),
        );
    }
    let is_variable = variable.variability >= Variability::Discrete;
    (is_variable && variable.is_protected && variable.binding.is_some()).then(|| {
        Diagnostic::new(codes::UNUSED_VARIABLE, variable.span, format!("the protected variable `{name}` is never used"))
            .hint("remove it, or make it public to see it in the results")
    })
}

fn check_function(function: &Function, out: &mut Diagnostics) {
    if function.is_record_constructor || function.external.is_none() && function.body.is_empty() {
        return;
    }
    let uses = LocalUses::find(function);
    for (id, local) in function.locals.iter() {
        let (is_read, is_written) = (uses.is(&uses.read, id), uses.is(&uses.written, id));
        let is_iterator = uses.is(&uses.iterators, id);
        if function.inputs.contains(&id) {
            if !is_read {
                out.push(unused_input(function, local));
            }
        } else if !function.outputs.contains(&id) && !is_read && !is_written && !is_iterator {
            out.push(unused_local(function, local));
        }
    }
}

/// Which locals of a function are read, assigned, or iterate.
struct LocalUses {
    read: Vec<bool>,
    written: Vec<bool>,
    iterators: Vec<bool>,
}

impl LocalUses {
    fn find(function: &Function) -> LocalUses {
        let n = function.locals.len();
        let mut uses = LocalUses { read: vec![false; n], written: vec![false; n], iterators: vec![false; n] };
        for local in function.locals.values() {
            local.default.iter().chain(local.sizes.iter().flatten()).for_each(|e| uses.reads(e));
        }
        uses.statements(&function.body);
        if let Some(external) = &function.external {
            for argument in &external.arguments {
                match argument {
                    ExternalArgument::Input(e) => uses.reads(e),
                    ExternalArgument::Output(id) => {
                        LocalUses::mark(&mut uses.written, *id);
                        LocalUses::mark(&mut uses.read, *id);
                    }
                }
            }
            external.result.iter().for_each(|id| LocalUses::mark(&mut uses.written, *id));
        }
        uses
    }

    fn is(&self, which: &[bool], id: LocalId) -> bool {
        which.get(id.index()).copied().unwrap_or(true)
    }

    fn mark(which: &mut [bool], id: LocalId) {
        if let Some(slot) = which.get_mut(id.index()) {
            *slot = true;
        }
    }

    fn reads(&mut self, expr: &Expr) {
        walk::for_each_part(expr, &mut |part| match &part.kind {
            ExprKind::Local(id) | ExprKind::CallLocal { function: id, .. } => LocalUses::mark(&mut self.read, *id),
            ExprKind::Reduction { iterators, .. } => {
                iterators.iter().for_each(|i| LocalUses::mark(&mut self.iterators, i.local));
            }
            _ => {}
        });
    }

    fn statements(&mut self, list: &[Statement]) {
        let place = Place { section: Section::Algorithm, in_when: false };
        // The walk visits targets as well; an assignment alone does not use a variable, but here it does not matter.
        walk::statements(list, place, &mut |root, _| self.reads(root));
        self.targets(list);
    }

    fn targets(&mut self, list: &[Statement]) {
        for statement in list {
            match &statement.kind {
                StatementKind::Assign { target, .. } => walk::for_each_part(target, &mut |part| {
                    if let ExprKind::Local(id) = part.kind {
                        LocalUses::mark(&mut self.written, id);
                    }
                }),
                StatementKind::If { branches, otherwise } => {
                    branches.iter().for_each(|(_, body)| self.targets(body));
                    self.targets(otherwise);
                }
                StatementKind::For { local, body, .. } => {
                    LocalUses::mark(&mut self.iterators, *local);
                    self.targets(body);
                }
                StatementKind::While { body, .. } => self.targets(body),
                StatementKind::When { branches } => branches.iter().for_each(|(_, body)| self.targets(body)),
                _ => {}
            }
        }
    }
}

fn at(local: &Local, function: &Function) -> Span {
    if local.span.is_nowhere() { function.span } else { local.span }
}

fn unused_input(function: &Function, local: &Local) -> Diagnostic {
    let (f, name) = (&function.name, &local.name);
    Diagnostic::new(
        codes::UNUSED_FUNCTION_INPUT,
        at(local, function),
        format!("the input `{name}` of the function `{f}` is never used"),
    )
    .hint("remove it, or use it in the algorithm")
}

fn unused_local(function: &Function, local: &Local) -> Diagnostic {
    let (f, name) = (&function.name, &local.name);
    Diagnostic::new(
        codes::UNUSED_FUNCTION_LOCAL,
        at(local, function),
        format!("the protected variable `{name}` of the function `{f}` is never used"),
    )
    .hint("remove it")
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
    fn parameters_and_protected_variables() {
        says(
            "parameter Real k = 2, g = 9.81, r.k = 1; Real x(start = g), y = 2*x; protected Real z = x;
equation
  der(x) = 1.0;",
            "
H0730 1:16 `k`: the parameter `k` is never used
  hint: remove it, or use it: changing its value changes nothing
H0731 1:85 `z`: the protected variable `z` is never used
  hint: remove it, or make it public to see it in the results",
        );
    }

    #[test]
    fn functions() {
        says(
            "function f
  input Real u; input Real v; output Real y; output Real z; protected Real w; protected Real a;
algorithm
  a := u; y := a;
end f;
Real x;
equation
  x = f(time, 1.0);",
            "
H0732 2:28 `v`: the input `v` of the function `f` is never used
  hint: remove it, or use it in the algorithm
H0734 2:76 `w`: the protected variable `w` of the function `f` is never used
  hint: remove it",
        );
    }
}
