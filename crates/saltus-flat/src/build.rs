//! Short constructors for flat models that are made by programs rather than by the front end: tests and generators.
//!
//! ```
//! use saltus_flat::build::*;
//! let mut b = Builder::new("Decay");
//! let x = b.real("x");
//! b.start(x, 1.0, true);
//! b.equation(der(b.var(x)), negate(b.var(x)));
//! assert!(saltus_flat::verify(&b.model).is_ok());
//! ```

use saltus_base::Span;

use crate::{
    Attributes, BaseType, BinaryOp, Builtin, Causality, Equation, EquationKind, Expr, ExprKind, FlatModel, Origin,
    Prefix, Type, UnaryOp, VarId, Variability, Variable,
};

pub struct Builder {
    pub model: FlatModel,
}

impl Builder {
    pub fn new(name: &str) -> Self {
        Builder { model: FlatModel { name: name.into(), ..Default::default() } }
    }

    pub fn declare(&mut self, name: &str, ty: Type, variability: Variability) -> VarId {
        self.model.variables.push(Variable {
            name: name.into(),
            ty,
            variability,
            causality: Causality::Local,
            prefix: Prefix::None,
            attributes: Attributes::default(),
            binding: None,
            description: String::new(),
            is_protected: false,
            hide_result: false,
            is_structural: false,
            is_final: false,
            span: Span::nowhere(),
        })
    }

    pub fn real(&mut self, name: &str) -> VarId {
        self.declare(name, Type::REAL, Variability::Continuous)
    }

    pub fn boolean(&mut self, name: &str) -> VarId {
        self.declare(name, Type::BOOLEAN, Variability::Discrete)
    }

    pub fn integer(&mut self, name: &str) -> VarId {
        self.declare(name, Type::INTEGER, Variability::Discrete)
    }

    /// `parameter Real name = value`
    pub fn parameter(&mut self, name: &str, value: f64) -> VarId {
        let id = self.declare(name, Type::REAL, Variability::Parameter);
        self.model.variables[id].binding = Some(real(value));
        id
    }

    /// `name(start = value, fixed = fixed)` of a Real.
    pub fn start(&mut self, id: VarId, value: f64, fixed: bool) {
        self.start_value(id, real(value), fixed);
    }

    pub fn start_value(&mut self, id: VarId, value: Expr, fixed: bool) {
        let attributes = &mut self.model.variables[id].attributes;
        attributes.start = Some(value);
        attributes.fixed = Some(boolean(fixed));
    }

    /// A reference to a variable.
    pub fn var(&self, id: VarId) -> Expr {
        Expr::new(ExprKind::Var(id), self.model.variables[id].ty.clone(), Span::nowhere())
    }

    pub fn equation(&mut self, left: Expr, right: Expr) {
        self.model.equations.push(equality(left, right));
    }

    pub fn initial_equation(&mut self, left: Expr, right: Expr) {
        self.model.initial_equations.push(equality(left, right));
    }

    /// `when condition then body end when;`
    pub fn when(&mut self, condition: Expr, body: Vec<Equation>) {
        self.model.equations.push(equation(EquationKind::When { branches: vec![(condition, body)] }));
    }
}

pub fn equation(kind: EquationKind) -> Equation {
    Equation { kind, origin: Origin::Declared, component: "".into(), span: Span::nowhere() }
}

pub fn equality(left: Expr, right: Expr) -> Equation {
    equation(EquationKind::Equality { left, right })
}

pub fn reinit(state: Expr, value: Expr) -> Equation {
    equation(EquationKind::Reinit { state, value })
}

pub fn real(value: f64) -> Expr {
    Expr::real(value, Span::nowhere())
}

pub fn integer(value: i64) -> Expr {
    Expr::integer(value, Span::nowhere())
}

pub fn boolean(value: bool) -> Expr {
    Expr::boolean(value, Span::nowhere())
}

pub fn time() -> Expr {
    Expr::new(ExprKind::Time, Type::REAL, Span::nowhere())
}

/// The result type follows from the operands; the operands are used as they are.
pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    let dims = if left.ty.is_scalar() { right.ty.dims.clone() } else { left.ty.dims.clone() };
    let base = match op {
        op if op.is_boolean() => BaseType::Boolean,
        _ => left.ty.base,
    };
    Expr::new(ExprKind::Binary(op, Box::new(left), Box::new(right)), Type { base, dims }, Span::nowhere())
}

pub fn add(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Add, left, right)
}

pub fn sub(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Sub, left, right)
}

pub fn mul(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Mul, left, right)
}

pub fn div(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Div, left, right)
}

pub fn less(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Less, left, right)
}

pub fn greater(left: Expr, right: Expr) -> Expr {
    binary(BinaryOp::Greater, left, right)
}

pub fn negate(operand: Expr) -> Expr {
    unary(UnaryOp::Negate, operand)
}

pub fn not(operand: Expr) -> Expr {
    unary(UnaryOp::Not, operand)
}

fn unary(op: UnaryOp, operand: Expr) -> Expr {
    let ty = operand.ty.clone();
    Expr::new(ExprKind::Unary(op, Box::new(operand)), ty, Span::nowhere())
}

pub fn if_then_else(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    let ty = then.ty.clone();
    let kind = ExprKind::If { condition: Box::new(condition), then: Box::new(then), otherwise: Box::new(otherwise) };
    Expr::new(kind, ty, Span::nowhere())
}

/// An operator whose result has the type of its last argument: `der(x)`, `pre(x)`, `sin(x)`, `smooth(0, x)`.
pub fn apply(function: Builtin, arguments: Vec<Expr>) -> Expr {
    let ty = arguments.last().map_or(Type::BOOLEAN, |a| a.ty.clone());
    Expr::builtin(function, arguments, ty, Span::nowhere())
}

pub fn der(operand: Expr) -> Expr {
    apply(Builtin::Der, vec![operand])
}

pub fn pre(operand: Expr) -> Expr {
    apply(Builtin::Pre, vec![operand])
}

pub fn sample(start: f64, interval: f64) -> Expr {
    Expr::builtin(Builtin::Sample, vec![real(start), real(interval)], Type::BOOLEAN, Span::nowhere())
}
