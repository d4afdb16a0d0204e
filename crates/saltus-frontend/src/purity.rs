//! Rules of functions about others that they name: impure ones that they call (specification 12.3) and the functions that are
//! given as their derivatives (12.7.1).
//!
//! ```text
//! pure function f …  y := random();              error[E0393]: declared pure and calls an impure function
//! function f  input Real x; … derivative = df    warning[W0394]: `df` has 1 input, 2 are needed
//! ```

use saltus_base::Span;
use saltus_flat::uses::for_each_expr_of_statements;
use saltus_flat::{self as flat, BaseType, Builtin, Expr, ExprKind, FunctionId, LocalId, Purity, Type};
use saltus_syntax::ast;

use crate::Front;
use crate::diagnostics as d;
use crate::instance::InstId;

/// Records nested more deeply than this are taken to have no Reals.
const MOST_RECORD_LEVELS: u32 = 32;

impl<'a> Front<'a> {
    /// A function calls impure ones only if it says that it is impure, or that their effects do not matter.
    pub fn check_impure_calls(&mut self, id: FunctionId, inst: InstId, function: &flat::Function) {
        if function.purity == Purity::Impure || function.external.is_some() {
            return;
        }
        let mut found: Option<(FunctionId, Span)> = None;
        for_each_expr_of_statements(&function.body, &mut |e| self.first_impure(e, &mut found));
        function.locals.values().filter_map(|l| l.default.as_ref()).for_each(|e| self.first_impure(e, &mut found));
        let Some((called, span)) = found.filter(|(called, _)| *called != id) else { return };
        let called = self.functions[called].name.clone();
        let is_declared = self.tree[inst].definition.is_some_and(|c| c.purity == Some(ast::Purity::Pure));
        let message = if is_declared { d::pure_calls_impure } else { d::silently_impure };
        self.report_always(message(&function.name, &called, span));
    }

    fn first_impure(&self, expr: &Expr, found: &mut Option<(FunctionId, Span)>) {
        match &expr.kind {
            // `pure(f(…))` is about the call; its arguments are as they are.
            ExprKind::Builtin { function: Builtin::Pure, arguments } => {
                for call in arguments {
                    call.for_each_child(&mut |argument| self.first_impure(argument, found));
                }
                return;
            }
            ExprKind::Call { function, .. } if self.functions[*function].purity == Purity::Impure => {
                found.get_or_insert((*function, expr.span));
            }
            _ => {}
        }
        expr.for_each_child(&mut |child| self.first_impure(child, found));
    }

    /// A derivative takes what the function takes, then the derivatives of its Real inputs, and returns those of its Real outputs.
    pub fn check_derivative_signature(
        &mut self,
        function: &flat::Function,
        entry: &flat::FunctionDerivative,
        span: Span,
    ) -> bool {
        let derivative = &self.functions[entry.function];
        let input_type = |local: &LocalId| &function.locals[*local].ty;
        let has_derivative = |local: &&LocalId| {
            let is_left_out = entry.no_derivative.contains(local) || entry.zero_derivative.contains(local);
            !is_left_out && self.has_reals(input_type(local).base, 0)
        };
        // Which inputs of a higher derivative are themselves derivatives is not written anywhere.
        let is_first = entry.order == 1;
        let added = function.inputs.iter().filter(has_derivative).filter(|_| is_first);
        let inputs: Vec<&Type> = function.inputs.iter().chain(added).map(input_type).collect();
        let outputs = function.outputs.iter().map(input_type).filter(|ty| self.has_reals(ty.base, 0));
        let given = |locals: &[LocalId]| locals.iter().map(|l| &derivative.locals[*l]).collect::<Vec<_>>();
        let why = unlike(&inputs, &given(&derivative.inputs), "input", is_first)
            .or_else(|| unlike(&outputs.collect::<Vec<_>>(), &given(&derivative.outputs), "output", true));
        let Some(why) = why else { return true };
        let name = derivative.name.clone();
        self.report_always(d::derivative_signature(&function.name, &name, &why, span));
        false
    }

    fn has_reals(&self, base: BaseType, level: u32) -> bool {
        match base {
            BaseType::Real => true,
            BaseType::Record(id) if level < MOST_RECORD_LEVELS => {
                let fields = self.types.records.get(id).map_or(&[][..], |r| &r.fields);
                fields.iter().any(|f| self.has_reals(f.ty.base, level + 1))
            }
            _ => false,
        }
    }
}

/// How the variables of a derivative differ from what they should be.
fn unlike(wanted: &[&Type], given: &[&flat::Local], what: &str, is_complete: bool) -> Option<String> {
    if given.len() < wanted.len() || is_complete && given.len() > wanted.len() {
        let plural = |n: usize| if n == 1 { "" } else { "s" };
        return Some(format!(
            "it has {} {what}{}, {} {} needed",
            given.len(),
            plural(given.len()),
            wanted.len(),
            if wanted.len() == 1 { "is" } else { "are" }
        ));
    }
    wanted.iter().zip(given).find_map(|(wanted, given)| {
        // A derivative record is another record than the one that it belongs to.
        let are_records = matches!((wanted.base, given.ty.base), (BaseType::Record(_), BaseType::Record(_)));
        let is_same = are_records || wanted.base == given.ty.base || wanted.is_error() || given.ty.is_error();
        let is_fit = is_same && wanted.rank() == given.ty.rank();
        (!is_fit).then(|| format!("its {what} `{}` has another type than the one it belongs to", given.name))
    })
}
