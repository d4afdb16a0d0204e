//! Reaching every expression of a flat model once, with the place it stands in.
//!
//! In: a `FlatModel`. Out: calls of a visitor. For `when x > 1 then q = pre(q) + 1; end when;` the visitor sees the
//! condition outside and both sides inside of a `when`.
//!
//! Expressions are walked with an explicit stack, because sums from connection sets are as deep as they are long.
//! Equations and statements recurse: their nesting is limited by the parser.

use saltus_flat::{Equation, EquationKind, Expr, FlatModel, Statement, StatementKind};

/// The part of a model that an expression stands in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Section {
    /// An attribute or the binding of a declaration.
    Declaration,
    Equation,
    InitialEquation,
    Algorithm,
    InitialAlgorithm,
}

impl Section {
    pub fn is_initial(self) -> bool {
        matches!(self, Section::InitialEquation | Section::InitialAlgorithm)
    }
}

/// Where an expression stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    pub section: Section,
    /// In the body of a `when` (its condition is outside).
    pub in_when: bool,
}

impl Place {
    fn new(section: Section) -> Place {
        Place { section, in_when: false }
    }

    fn inside_when(self) -> Place {
        Place { in_when: true, ..self }
    }
}

/// Calls `visit` on `root` and all its parts, outside in, from left to right.
pub fn for_each_part<'a>(root: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    for_each_part_while(root, &mut |part| {
        visit(part);
        true
    });
}

/// As [`for_each_part`]; the parts of an expression for which `visit` says `false` are left out.
pub fn for_each_part_while<'a>(root: &'a Expr, visit: &mut dyn FnMut(&'a Expr) -> bool) {
    let mut stack = vec![root];
    while let Some(part) = stack.pop() {
        if visit(part) {
            let first = stack.len();
            part.for_each_child(&mut |child| stack.push(child));
            stack[first..].reverse();
        }
    }
}

/// Calls `visit` on each complete expression outside functions: attributes, bindings, sides of equations, conditions,
/// targets and values of statements.
pub fn for_each_root<'a>(model: &'a FlatModel, visit: &mut dyn FnMut(&'a Expr, Place)) {
    for variable in model.variables.values() {
        for (_, value) in variable.attributes.iter() {
            visit(value, Place::new(Section::Declaration));
        }
        if let Some(binding) = &variable.binding {
            visit(binding, Place::new(Section::Declaration));
        }
    }
    equations(&model.equations, Place::new(Section::Equation), visit);
    equations(&model.initial_equations, Place::new(Section::InitialEquation), visit);
    for algorithm in &model.algorithms {
        statements(&algorithm.statements, Place::new(Section::Algorithm), visit);
    }
    for algorithm in &model.initial_algorithms {
        statements(&algorithm.statements, Place::new(Section::InitialAlgorithm), visit);
    }
}

fn equations<'a>(list: &'a [Equation], place: Place, visit: &mut dyn FnMut(&'a Expr, Place)) {
    for equation in list {
        match &equation.kind {
            EquationKind::Equality { left, right } => {
                visit(left, place);
                visit(right, place);
            }
            EquationKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    visit(condition, place);
                    equations(body, place, visit);
                }
                equations(otherwise, place, visit);
            }
            EquationKind::When { branches } => {
                for (condition, body) in branches {
                    visit(condition, place);
                    equations(body, place.inside_when(), visit);
                }
            }
            EquationKind::Assert { condition, message, level } => {
                visit(condition, place);
                visit(message, place);
                level.iter().for_each(|l| visit(l, place));
            }
            EquationKind::Terminate { message } => visit(message, place),
            EquationKind::Reinit { state, value } => {
                visit(state, place);
                visit(value, place);
            }
            EquationKind::Call(call) => visit(call, place),
        }
    }
}

/// Calls `visit` on each expression of some statements, for a model's algorithm or a function's body.
pub fn statements<'a>(list: &'a [Statement], place: Place, visit: &mut dyn FnMut(&'a Expr, Place)) {
    for statement in list {
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                visit(target, place);
                visit(value, place);
            }
            StatementKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    visit(condition, place);
                    statements(body, place, visit);
                }
                statements(otherwise, place, visit);
            }
            StatementKind::For { range, body, .. } => {
                visit(range, place);
                statements(body, place, visit);
            }
            StatementKind::While { condition, body } => {
                visit(condition, place);
                statements(body, place, visit);
            }
            StatementKind::When { branches } => {
                for (condition, body) in branches {
                    visit(condition, place);
                    statements(body, place.inside_when(), visit);
                }
            }
            StatementKind::Break | StatementKind::Return => {}
            StatementKind::Assert { condition, message, level } => {
                visit(condition, place);
                visit(message, place);
                level.iter().for_each(|l| visit(l, place));
            }
            StatementKind::Terminate { message } => visit(message, place),
            StatementKind::Reinit { state, value } => {
                visit(state, place);
                visit(value, place);
            }
            StatementKind::Call(call) => visit(call, place),
        }
    }
}
