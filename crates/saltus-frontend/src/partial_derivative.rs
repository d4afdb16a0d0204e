//! Partial derivatives of functions (specification 12.7.2).
//!
//! ```text
//! function f                              function f_x
//!   input Real x, y;  output Real z;        input Real x, y;  output Real der_z;  protected Real z;
//! algorithm                          ⇒    algorithm
//!   z := x*y;                               der_z := y;  z := x*y;
//! end f;                                  end f_x;
//! function f_x = der(f, x);
//! ```
//!
//! Such a class has the components of the function, as a short class definition would; what it computes is differentiated when
//! its body is made, once for each input, in their order.

use std::sync::Arc;

use saltus_base::Span;
use saltus_flat::{self as flat, BaseType, Expr, ExprKind, FunctionId, LocalId, Purity, RecordId, Type};
use saltus_procedure::differentiate::{self, Functions, NotWritten};
use saltus_syntax::ast;

use crate::Front;
use crate::diagnostics as d;
use crate::function::FunctionEntry;
use crate::instance::{InstId, Memo};

/// Functions that call each other deeper than this are not differentiated.
const MOST_LEVELS: u32 = 30;

/// More partial derivatives of one function than this are a mistake: each doubles its body.
const MOST_DERIVATIVES: usize = 8;

impl<'a> Front<'a> {
    /// The function that an instance is, given what it would be without `der(f, x)` in its class or in its bases.
    pub fn differentiated(&mut self, inst: InstId, function: flat::Function) -> flat::Function {
        let mut by = Vec::new();
        let mut differentiated = None;
        self.derivatives_in(inst, &mut by, &mut differentiated);
        let Some(original) = differentiated else { return function };
        if self.tree[inst].members.is_incomplete || !self.results_are_real(&function, original) {
            return function;
        }
        let mut result = match function.external {
            Some(_) => self.call_of(&function, original),
            None => function.clone(),
        };
        for variable in by {
            let name = self.text(variable.name);
            let input = result.inputs.iter().copied().find(|&input| {
                let local = &result.locals[input];
                local.name == name && local.ty == Type::REAL
            });
            let Some(input) = input else {
                self.report(d::derivative_by(&self.function_name(original), name, variable.span));
                return function;
            };
            match self.by_one(&result, input) {
                Ok(derivative) => result = flat::Function { name: function.name.clone(), ..derivative },
                Err(NotWritten { span }) => {
                    let part = (span != Span::nowhere()).then_some(span);
                    self.report(d::not_differentiable(&self.function_name(original), name, part, variable.span));
                    return function;
                }
            }
        }
        result
    }

    fn by_one(&mut self, function: &flat::Function, by: LocalId) -> Result<flat::Function, NotWritten> {
        if function.purity == Purity::Impure {
            return Err(NotWritten { span: function.span });
        }
        differentiate::partial_derivative(self, function, by, MOST_LEVELS)
    }

    /// The inputs to differentiate by, the first first, and the instance of the function they belong to.
    fn derivatives_in(&mut self, inst: InstId, by: &mut Vec<&'a ast::Ident>, of: &mut Option<InstId>) {
        for base in self.tree[inst].members.bases.clone() {
            self.derivatives_in(base, by, of);
        }
        let Some(ast::ClassBody::Derivative { variables, .. }) = self.tree[inst].definition.map(|c| &c.body) else {
            return;
        };
        if by.len() + variables.len() > MOST_DERIVATIVES
            && let Some(last) = variables.last()
        {
            self.report(d::nested_too_deeply("partial derivatives", MOST_DERIVATIVES, last.span));
            return;
        }
        by.extend(variables);
        if of.is_none() {
            *of = self.tree[inst].members.bases.first().copied();
        }
    }

    fn results_are_real(&mut self, function: &flat::Function, original: InstId) -> bool {
        let locals = function.outputs.iter().map(|&output| &function.locals[output]);
        let other = locals.filter(|l| l.ty.base != BaseType::Real).map(|l| (l.name.clone(), l.span)).next();
        if let Some((output, span)) = &other {
            self.report(d::derivative_of_output(&self.function_name(original), output, *span));
        }
        other.is_none()
    }

    fn function_name(&self, inst: InstId) -> String {
        self.library.qualified_name(self.tree[inst].class)
    }

    /// A function that does nothing but call the one it was made of: what is external has the derivative of its annotation.
    fn call_of(&mut self, function: &flat::Function, original: InstId) -> flat::Function {
        let Some(called) = self.tree[original].slot.map(|slot| self.function_of(slot)) else { return function.clone() };
        let span = function.span;
        let local = |&id: &LocalId| Expr::new(ExprKind::Local(id), function.locals[id].ty.clone(), span);
        let arguments = function.inputs.iter().map(local).collect();
        let targets: Vec<Expr> = function.outputs.iter().map(local).collect();
        let Some(ty) = targets.first().map(|first| first.ty.clone()) else { return function.clone() };
        let value = Expr::new(ExprKind::Call { function: called, arguments }, ty.clone(), span);
        let target = match <[Expr; 1]>::try_from(targets) {
            Ok([target]) => target,
            Err(targets) => Expr::new(ExprKind::Tuple(targets.into_iter().map(Some).collect()), ty, span),
        };
        let body = vec![flat::Statement { kind: flat::StatementKind::Assign { target, value }, span }];
        flat::Function { body, external: None, ..function.clone() }
    }
}

impl Functions for Front<'_> {
    fn function(&mut self, id: FunctionId) -> Option<flat::Function> {
        // One that is being made depends on its own derivative.
        let is_open = matches!(self.functions[id].body, Memo::InProgress);
        (!is_open).then(|| (*self.function_body(id)).clone())
    }

    fn made_derivative(&self, of: FunctionId) -> Option<FunctionId> {
        self.functions.derivatives.get(&of).copied()
    }

    fn add_derivative(&mut self, of: FunctionId, derivative: flat::Function) -> FunctionId {
        let original = &self.functions[of];
        let (slot, inst) = (original.slot, original.inst);
        let name = self.functions.unique_name(derivative.name.clone());
        let id = self.functions.entries.push(FunctionEntry {
            slot,
            inst,
            name,
            locals: derivative.locals.clone(),
            components: Vec::new(),
            inputs: derivative.inputs.clone(),
            outputs: derivative.outputs.clone(),
            is_record_constructor: false,
            has_signature: true,
            purity: derivative.purity,
            body: Memo::InProgress,
            procedure: None,
        });
        self.functions.derivatives.insert(of, id);
        id
    }

    fn replace(&mut self, id: FunctionId, function: flat::Function) {
        let name = self.functions[id].name.clone();
        self.functions[id].locals = function.locals.clone();
        self.functions[id].body = Memo::Known(Arc::new(flat::Function { name, ..function }));
    }

    fn field_types(&self, record: RecordId) -> Option<Vec<Type>> {
        Some(self.types.records.get(record)?.fields.iter().map(|field| field.ty.clone()).collect())
    }
}
