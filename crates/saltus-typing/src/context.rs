//! What the type rules ask of their caller, and how a value's purpose reads in a message.

use std::sync::Arc;

use saltus_base::{Diagnostic, Span};
use saltus_flat::{
    BaseType, EnumId, EnumType, Expr, ExprKind, FunctionId, LocalId, RecordId, RecordType, VarId, Variability,
};

use crate::literal::{literal_integer, literal_real};

/// The surroundings of the expression that is being typed.
pub trait Context {
    fn report(&mut self, diagnostic: Diagnostic);

    fn enum_type(&self, id: EnumId) -> Arc<EnumType>;

    fn record_type(&self, id: RecordId) -> Arc<RecordType>;

    /// The value of an Integer expression before run time (sizes, dimension numbers); `None` without a message where it
    /// has none, as for what depends on inputs of a function.
    fn evaluate_integer(&mut self, expr: &Expr) -> Option<i64>;

    /// The same for Real, needed by ranges such as `0 : 0.1 : p`.
    fn evaluate_real(&mut self, expr: &Expr) -> Option<f64> {
        literal_real(expr)
    }

    /// The same for Boolean: the condition of an `if`-expression whose branches have different sizes.
    fn evaluate_boolean(&mut self, expr: &Expr) -> Option<bool> {
        match expr.kind {
            ExprKind::Boolean(value) => Some(value),
            _ => None,
        }
    }

    /// Declared (or, for Integer and the like, implied) variability of a variable.
    fn variability(&self, var: VarId) -> Variability;

    /// Variability of an iteration variable, or of a function's variable.
    fn local_variability(&self, local: LocalId) -> Variability;

    /// Inside a function (without `GenerateEvents = true`, whose bodies follow the rules of equations).
    fn in_function(&self) -> bool;

    /// Sizes may depend on what is known at run time only: in functions, and in ranges of `for`-statements of algorithm
    /// sections, for which the caller says so.
    fn allows_unknown_sizes(&self) -> bool {
        self.in_function()
    }

    /// The function has the annotation `GenerateEvents = true`.
    fn generates_events(&self, _function: FunctionId) -> bool {
        false
    }

    /// A new Integer iteration variable for a loop that the type rules add: converting an array of records whose size is
    /// not known before run time. Without one that conversion is an error.
    fn fresh_iterator(&mut self, _span: Span) -> Option<LocalId> {
        None
    }

    /// The id of a record type that the type rules make: that of records of one class whose fields differ in size, `like` being one
    /// of them. Without one such records have no common type.
    fn add_record_type(&mut self, _record: RecordType, _like: RecordId) -> Option<RecordId> {
        None
    }

    /// Short Modelica text of an expression for messages.
    fn describe(&self, expr: &Expr) -> String {
        crate::names::brief_text(expr)
    }
}

/// What a value is for; only the wording of messages depends on it.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// `Real x = value`
    Binding { variable: &'a str },
    /// `Real x(start = value)`
    Attribute { attribute: &'a str, variable: &'a str },
    /// `f(…, value, …)`; positions count from 1.
    Argument { function: &'a str, position: usize, name: &'a str },
    /// `x := value`
    Assignment { target: &'a str },
    /// The right-hand side of an equation whose left-hand side fixes the type.
    Equation,
    /// `if value then`; the keyword or function that takes the condition (`if`, `while`, `when`, `assert`, …).
    Condition { construct: &'a str },
    /// `Real x[value]`
    Size { variable: &'a str },
    /// `x[value]` where the declaration of `x` has an enumeration or Boolean as this size.
    Subscript { variable: &'a str },
    /// A field of a record value.
    Field { field: &'a str, record: &'a str },
}

impl Place<'_> {
    /// "the value of `x`": subject of a sentence.
    pub fn text(&self) -> String {
        match self {
            Place::Binding { variable } => format!("the value of `{variable}`"),
            Place::Attribute { attribute, variable } => format!("the attribute `{attribute}` of `{variable}`"),
            Place::Argument { function, position, name } => format!("argument {position} (`{name}`) of `{function}`"),
            Place::Assignment { target } => format!("the value assigned to `{target}`"),
            Place::Equation => "the right-hand side of the equation".to_string(),
            Place::Condition { construct } => format!("the condition of `{construct}`"),
            Place::Size { variable } => format!("an array size of `{variable}`"),
            Place::Subscript { variable } => format!("this subscript of `{variable}`"),
            Place::Field { field, record } => format!("the field `{field}` of `{record}`"),
        }
    }
}

/// The compile-time value of an Integer or enumeration expression; literals are not worth asking the caller.
pub(crate) fn integer_value(cx: &mut dyn Context, expr: &Expr) -> Option<i64> {
    match (&expr.kind, expr.ty.base) {
        (ExprKind::EnumLiteral(_, ordinal), _) => Some(i64::from(*ordinal)),
        (ExprKind::Boolean(value), _) => Some(i64::from(*value)),
        (_, BaseType::Integer) => literal_integer(expr).or_else(|| cx.evaluate_integer(expr)),
        (_, BaseType::Boolean) => cx.evaluate_boolean(expr).map(i64::from),
        (_, BaseType::Enumeration(_)) => {
            let ordinal = Expr::new(ExprKind::Cast(Box::new(expr.clone())), saltus_flat::Type::INTEGER, expr.span);
            cx.evaluate_integer(&ordinal)
        }
        _ => None,
    }
}

/// The compile-time value of a numeric expression.
pub(crate) fn real_value(cx: &mut dyn Context, expr: &Expr) -> Option<f64> {
    match expr.ty.base {
        BaseType::Integer => integer_value(cx, expr).map(|value| value as f64),
        _ => literal_real(expr).or_else(|| cx.evaluate_real(expr)),
    }
}
