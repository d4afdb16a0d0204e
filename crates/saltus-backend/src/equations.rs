//! Lower equations: each becomes scalar equations on the graph.
//!
//! In: bindings, equations and initial equations. Out: [`ScalarEquation`]s. An `if`-equation becomes one conditional
//! equation for each position:
//!
//! ```text
//! if c then x = 1; else x = y; end if;       ⇒   x = if c then 1 else y
//! if c then a = b; else d = e; end if;       ⇒   0 = if c then a - b else d - e
//! ```
//!
//! (Specification: section 8.3.)

use saltus_base::{Diagnostics, Span};
use saltus_flat::{BaseType, Equation, EquationKind, Expr, ExprKind, FlatModel};
use saltus_program::{Assertion, BinaryFn, SlotKind, SlotType};

use crate::dag::NodeId;
use crate::diagnostics;
use crate::lower::{Lowering, Reported};
use crate::system::{Assignment, ScalarEquation, System, is_unknown};

pub fn lower_equations(model: &FlatModel, system: &mut System, diagnostics: &mut Diagnostics) {
    let mut lowering = Lowering::new(model, system, diagnostics);
    for algorithm in model.algorithms.iter().chain(&model.initial_algorithms) {
        let _ = lowering.unsupported::<()>("algorithm sections", algorithm.span);
    }
    for (id, variable) in model.variables.iter() {
        if let Some(binding) = &variable.binding
            && is_unknown(variable)
        {
            let left = Expr::new(ExprKind::Var(id), variable.ty.clone(), variable.span);
            let _ = lowering.equality(&left, binding, variable.span);
        }
    }
    // What could not be lowered has been reported; the other equations are still looked at.
    for equation in &model.equations {
        let _ = lowering.equation(equation);
    }
    lowering.is_literal = true;
    for equation in &model.initial_equations {
        let n = lowering.system.equations.len();
        let _ = lowering.equation(equation);
        let new = lowering.system.equations.split_off(n);
        lowering.system.initial_equations.extend(new);
    }
}

/// `reinit` is for states only. Whether a variable is one is known after all equations have been seen.
pub fn check_reinits(system: &System, diagnostics: &mut Diagnostics) {
    for reinit in system.reinits.iter().filter(|r| system.slots[r.state].kind != SlotKind::State) {
        diagnostics.push(diagnostics::not_a_state(system.name(reinit.state), reinit.span));
    }
}

/// One scalar equation of a branch.
struct Sides {
    left: NodeId,
    right: NodeId,
    is_real: bool,
    span: Span,
}

impl Lowering<'_> {
    fn equation(&mut self, equation: &Equation) -> Result<(), Reported> {
        match &equation.kind {
            EquationKind::Equality { left, right } => self.equality(left, right, equation.span),
            EquationKind::If { branches, otherwise } => {
                let yes = self.system.dag.boolean(true);
                let sides = self.if_equation(branches, otherwise, yes, equation.span)?;
                sides.into_iter().for_each(|s| self.add(s));
                Ok(())
            }
            EquationKind::When { branches } => self.when(branches, equation.span),
            EquationKind::Assert { .. } => {
                let yes = self.system.dag.boolean(true);
                self.assertion(equation, yes)
            }
            EquationKind::Terminate { .. } => self.unsupported("terminate outside a when", equation.span),
            EquationKind::Reinit { .. } => self.unsupported("reinit outside a when", equation.span),
            EquationKind::Call(_) => self.unsupported("calls for their effect", equation.span),
        }
    }

    fn equality(&mut self, left: &Expr, right: &Expr, span: Span) -> Result<(), Reported> {
        let sides = self.sides(left, right, span)?;
        sides.into_iter().for_each(|s| self.add(s));
        Ok(())
    }

    fn sides(&mut self, left: &Expr, right: &Expr, span: Span) -> Result<Vec<Sides>, Reported> {
        if matches!(left.kind, ExprKind::Tuple(_)) {
            return self.unsupported("equations with several results", span);
        }
        let (a, b) = (self.scalars(left)?, self.scalars(right)?);
        let is_real = matches!(left.ty.base, BaseType::Real | BaseType::Record(_));
        Ok(a.into_iter().zip(b).map(|(left, right)| Sides { left, right, is_real, span }).collect())
    }

    fn add(&mut self, s: Sides) {
        let Sides { left, right, is_real, span } = s;
        self.system.equations.push(ScalarEquation { left, right, target: None, initially: None, is_real, span });
    }

    /// All scalar equations of an `if`, in order. `guard` is the condition under which the `if` itself is active.
    fn if_equation(
        &mut self,
        branches: &[(Expr, Vec<Equation>)],
        otherwise: &[Equation],
        guard: NodeId,
        span: Span,
    ) -> Result<Vec<Sides>, Reported> {
        let Some(((condition, body), rest)) = branches.split_first() else {
            return self.branch(otherwise, guard);
        };
        let condition = self.condition(condition)?;
        match self.system.dag.value(condition) {
            Some(value) if value != 0.0 => return self.branch(body, guard),
            Some(_) => return self.if_equation(rest, otherwise, guard, span),
            None => {}
        }
        let not = self.system.dag.not(condition);
        let (here, there) = (self.system.dag.and(guard, condition), self.system.dag.and(guard, not));
        let first = self.branch(body, here)?;
        let other = self.if_equation(rest, otherwise, there, span)?;
        if first.len() != other.len() {
            return self.report(diagnostics::unequal_branches(first.len(), other.len(), span));
        }
        Ok(first.into_iter().zip(other).map(|(a, b)| self.merge(condition, a, b)).collect())
    }

    fn branch(&mut self, body: &[Equation], guard: NodeId) -> Result<Vec<Sides>, Reported> {
        let mut all = Vec::new();
        for equation in body {
            match &equation.kind {
                EquationKind::Equality { left, right } => all.extend(self.sides(left, right, equation.span)?),
                EquationKind::If { branches, otherwise } => {
                    all.extend(self.if_equation(branches, otherwise, guard, equation.span)?);
                }
                EquationKind::Assert { .. } => self.assertion(equation, guard)?,
                _ => return self.unsupported("this equation inside an if", equation.span),
            }
        }
        Ok(all)
    }

    fn merge(&mut self, condition: NodeId, a: Sides, b: Sides) -> Sides {
        let dag = &mut self.system.dag;
        let (is_real, span) = (a.is_real && b.is_real, a.span);
        if a.left == b.left || !is_real {
            let left = dag.select(condition, a.left, b.left);
            let right = dag.select(condition, a.right, b.right);
            return Sides { left, right, is_real, span };
        }
        let x = dag.binary(BinaryFn::Sub, a.left, a.right);
        let y = dag.binary(BinaryFn::Sub, b.left, b.right);
        Sides { left: dag.constant(0.0), right: dag.select(condition, x, y), is_real, span }
    }

    /// Checked literally at accepted points; generates no events.
    fn assertion(&mut self, equation: &Equation, guard: NodeId) -> Result<(), Reported> {
        let EquationKind::Assert { condition, message, level } = &equation.kind else { return Ok(()) };
        let condition = self.literally(|l| l.condition(condition))?;
        let inactive = self.system.dag.not(guard);
        let holds = self.system.dag.binary(BinaryFn::Or, inactive, condition);
        if self.system.dag.value(holds).is_some_and(|v| v != 0.0) {
            return Ok(());
        }
        let text = match &message.kind {
            ExprKind::String(text) => text.to_string(),
            _ => saltus_flat::print_expr(&saltus_flat::ModelNames::new(self.model), message),
        };
        // AssertionLevel has the literals warning and error, in this order.
        let is_warning = matches!(level, Some(Expr { kind: ExprKind::EnumLiteral(_, 1), .. }));
        let number = self.system.assertions.len() + 1;
        let slot = self.system.add_slot(format!("assertion {number}"), SlotKind::Auxiliary, SlotType::Boolean);
        let span = equation.span;
        self.system.assertion_conditions.push(Assignment { slot, node: holds, span });
        self.system.assertions.push(Assertion { condition: slot, message: text, is_warning, span });
        Ok(())
    }
}
