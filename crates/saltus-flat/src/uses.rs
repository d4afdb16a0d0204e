//! Which functions, records and enumerations a model reaches from its variables, equations and algorithms.
//!
//! In: a [`FlatModel`]. Out: sets of ids, closed under "mentions" (a function that is only called by another used
//! function is used).

use std::collections::BTreeSet;

use crate::{
    Algorithm, BaseType, EnumId, Equation, EquationKind, Expr, ExprKind, ExternalArgument, FlatModel, Function,
    FunctionId, RecordId, Statement, StatementKind, Type,
};

#[derive(Default, Debug)]
pub struct Uses {
    pub functions: BTreeSet<FunctionId>,
    pub records: BTreeSet<RecordId>,
    pub enumerations: BTreeSet<EnumId>,
}

pub fn find_uses(model: &FlatModel) -> Uses {
    let mut finder = Finder { model, uses: Uses::default(), pending: Vec::new() };
    for variable in model.variables.values() {
        finder.ty(&variable.ty);
        variable.attributes.iter().for_each(|(_, e)| finder.expr(e));
        variable.binding.iter().for_each(|e| finder.expr(e));
    }
    let equations = model.equations.iter().chain(&model.initial_equations);
    equations.for_each(|e| for_each_expr_of_equation(e, &mut |e| finder.expr(e)));
    let algorithms = model.algorithms.iter().chain(&model.initial_algorithms);
    algorithms.for_each(|a| for_each_expr_of_algorithm(a, &mut |e| finder.expr(e)));
    while let Some(id) = finder.pending.pop() {
        if let Some(function) = model.functions.get(id) {
            finder.function(function);
        }
    }
    finder.uses
}

/// Calls `visit` on each whole expression of an equation (not on their parts), inner equations included.
pub fn for_each_expr_of_equation<'a>(equation: &'a Equation, visit: &mut dyn FnMut(&'a Expr)) {
    match &equation.kind {
        EquationKind::Equality { left, right } => [left, right].into_iter().for_each(visit),
        EquationKind::If { branches, otherwise } => {
            for (condition, body) in branches {
                visit(condition);
                body.iter().for_each(|e| for_each_expr_of_equation(e, visit));
            }
            otherwise.iter().for_each(|e| for_each_expr_of_equation(e, visit));
        }
        EquationKind::When { branches } => {
            for (condition, body) in branches {
                visit(condition);
                body.iter().for_each(|e| for_each_expr_of_equation(e, visit));
            }
        }
        EquationKind::Assert { condition, message, level } => {
            [Some(condition), Some(message), level.as_ref()].into_iter().flatten().for_each(visit)
        }
        EquationKind::Terminate { message } => visit(message),
        EquationKind::Reinit { state, value } => [state, value].into_iter().for_each(visit),
        EquationKind::Call(call) => visit(call),
    }
}

/// Likewise for all statements of an algorithm.
pub fn for_each_expr_of_algorithm<'a>(algorithm: &'a Algorithm, visit: &mut dyn FnMut(&'a Expr)) {
    for_each_expr_of_statements(&algorithm.statements, visit);
}

/// Likewise for a list of statements.
pub fn for_each_expr_of_statements<'a>(statements: &'a [Statement], visit: &mut dyn FnMut(&'a Expr)) {
    for statement in statements {
        match &statement.kind {
            StatementKind::Assign { target, value } => [target, value].into_iter().for_each(&mut *visit),
            StatementKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    visit(condition);
                    for_each_expr_of_statements(body, visit);
                }
                for_each_expr_of_statements(otherwise, visit);
            }
            StatementKind::When { branches } => {
                for (condition, body) in branches {
                    visit(condition);
                    for_each_expr_of_statements(body, visit);
                }
            }
            StatementKind::For { range: head, body, .. } | StatementKind::While { condition: head, body } => {
                visit(head);
                for_each_expr_of_statements(body, visit);
            }
            StatementKind::Break | StatementKind::Return => {}
            StatementKind::Assert { condition, message, level } => {
                [Some(condition), Some(message), level.as_ref()].into_iter().flatten().for_each(&mut *visit)
            }
            StatementKind::Terminate { message } => visit(message),
            StatementKind::Reinit { state, value } => [state, value].into_iter().for_each(&mut *visit),
            StatementKind::Call(call) => visit(call),
        }
    }
}

struct Finder<'a> {
    model: &'a FlatModel,
    uses: Uses,
    pending: Vec<FunctionId>,
}

impl Finder<'_> {
    fn ty(&mut self, ty: &Type) {
        match ty.base {
            BaseType::Enumeration(id) => {
                self.uses.enumerations.insert(id);
            }
            BaseType::Record(id) => {
                if self.uses.records.insert(id)
                    && let Some(record) = self.model.records.get(id)
                {
                    record.fields.iter().for_each(|f| self.ty(&f.ty));
                }
            }
            BaseType::ExternalObject(constructor) => self.call(constructor),
            _ => {}
        }
    }

    fn expr(&mut self, expr: &Expr) {
        expr.walk(&mut |e| {
            self.ty(&e.ty);
            match &e.kind {
                ExprKind::Call { function, .. } | ExprKind::FunctionRef { function, .. } => self.call(*function),
                ExprKind::EnumLiteral(id, _) => {
                    self.uses.enumerations.insert(*id);
                }
                _ => {}
            }
        });
    }

    fn call(&mut self, function: FunctionId) {
        if self.uses.functions.insert(function) {
            self.pending.push(function);
        }
    }

    fn function(&mut self, function: &Function) {
        for local in function.locals.values() {
            self.ty(&local.ty);
            local.sizes.iter().flatten().chain(&local.default).for_each(|e| self.expr(e));
        }
        for_each_expr_of_statements(&function.body, &mut |e| self.expr(e));
        for argument in function.external.iter().flat_map(|e| &e.arguments) {
            if let ExternalArgument::Input(e) = argument {
                self.expr(e);
            }
        }
        if let Some(destructor) = function.external.as_ref().and_then(|e| e.destructor) {
            self.call(destructor);
        }
        function.derivatives.iter().for_each(|d| self.call(d.function));
        function.inverses.iter().for_each(|i| self.call(i.function));
    }
}
