//! The ends of a connection: primitive variables as seen from inside or outside, and what the front end tells about
//! them.

use saltus_base::Span;
use saltus_flat::{BaseType, Expr, ExprKind, Subscript, Type, VarId, Variability};

/// How a connector is seen by the class that contains the `connect` (specification 9.1.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Face {
    /// The connector of a component: `connect(resistor.p, …)`.
    Inside,
    /// A connector of the class itself: `connect(p, …)`.
    Outside,
}

/// What a connection does with a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Neither `flow` nor `stream`: equal in a connection set.
    Potential,
    /// Adds up to zero in a connection set.
    Flow,
    /// Carried by the flow variable of the same connector.
    Stream { flow: VarId },
}

/// The prefix `input` or `output`, declared or deduced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    None,
    Input,
    Output,
}

/// A primitive variable (built-in type, scalar or array) as it takes part in a connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct End {
    pub var: VarId,
    /// Row-major position (from 0) of one element of an array; `None` is the whole variable.
    pub element: Option<u64>,
    pub face: Face,
}

impl End {
    pub fn inside(var: VarId) -> End {
        End { var, element: None, face: Face::Inside }
    }

    pub fn outside(var: VarId) -> End {
        End { var, element: None, face: Face::Outside }
    }

    /// One element of this array.
    pub fn at(self, element: u64) -> End {
        End { element: Some(element), ..self }
    }
}

/// What the front end knows about variables.
pub trait Variables {
    fn kind(&self, var: VarId) -> Kind;
    fn ty(&self, var: VarId) -> &Type;
    /// Qualified name, for messages.
    fn name(&self, var: VarId) -> &str;
    fn variability(&self, var: VarId) -> Variability;
    fn direction(&self, var: VarId) -> Direction;
    /// The connector that contains the variable is declared in a `protected` section.
    fn is_protected(&self, var: VarId) -> bool;
    /// The variable belongs to an expandable connector, directly or added to it.
    fn is_expandable(&self, var: VarId) -> bool;
    /// A connection added the variable to an expandable connector, which does not declare it.
    fn is_implied(&self, _var: VarId) -> bool {
        false
    }

    /// The attribute `min` of a flow variable, where it could be evaluated.
    fn flow_min(&self, _var: VarId) -> Option<f64> {
        None
    }
    /// The attribute `max` of a flow variable, where it could be evaluated.
    fn flow_max(&self, _var: VarId) -> Option<f64> {
        None
    }
    /// The attribute `nominal` of a flow variable, where it could be evaluated.
    fn flow_nominal(&self, _var: VarId) -> Option<f64> {
        None
    }
    /// The attribute `quantity`; empty and `None` mean the same.
    fn quantity(&self, _var: VarId) -> Option<&str> {
        None
    }
    /// The state of a state machine that the variable is in: a number of the machine, and the state.
    fn state(&self, _var: VarId) -> Option<(usize, &str)> {
        None
    }
    /// Where the variable (or its connector) is declared.
    fn span(&self, _var: VarId) -> Span {
        Span::nowhere()
    }
}

/// The type of the part of a variable that is meant.
pub(crate) fn type_of(vars: &dyn Variables, var: VarId, element: Option<u64>) -> Type {
    let ty = vars.ty(var);
    match element {
        Some(_) => Type::scalar(ty.base),
        None => ty.clone(),
    }
}

/// By how much each subscript changes from the element `first` to the one `step` further on.
pub(crate) fn subscript_steps(ty: &Type, first: u64, step: i64) -> Vec<i64> {
    let (from, to) = (subscripts(ty, first), subscripts(ty, first.wrapping_add_signed(step)));
    from.into_iter().zip(to).map(|(from, to)| to as i64 - from as i64).collect()
}

/// Subscripts (from 1) of the row-major position `element` in an array of this type.
pub(crate) fn subscripts(ty: &Type, element: u64) -> Vec<u64> {
    let mut rest = element;
    let mut places: Vec<u64> = ty
        .dims
        .iter()
        .rev()
        .map(|dim| {
            let size = dim.known().unwrap_or(1).max(1);
            let place = rest % size + 1;
            rest /= size;
            place
        })
        .collect();
    places.reverse();
    places
}

/// `a.x` or `a.x[2, 1]`
pub(crate) fn reference(vars: &dyn Variables, var: VarId, element: Option<u64>, span: Span) -> Expr {
    let ty = vars.ty(var);
    let whole = Expr::new(ExprKind::Var(var), ty.clone(), span);
    let Some(element) = element.filter(|_| !ty.is_scalar()) else { return whole };
    let subscripts =
        subscripts(ty, element).into_iter().map(|i| Subscript::Index(Expr::integer(i as i64, span))).collect();
    Expr::new(ExprKind::Index { base: Box::new(whole), subscripts }, Type::scalar(ty.base), span)
}

/// The same as text for a message.
pub(crate) fn text(vars: &dyn Variables, end: End) -> String {
    let name = vars.name(end.var);
    match end.element {
        Some(element) if !vars.ty(end.var).is_scalar() => {
            let places: Vec<String> = subscripts(vars.ty(end.var), element).iter().map(u64::to_string).collect();
            format!("{name}[{}]", places.join(", "))
        }
        _ => name.to_string(),
    }
}

/// A type as text for a message; the front end knows the names of enumerations, here they are only "an enumeration".
pub(crate) fn type_text(ty: &Type) -> String {
    let base = match ty.base {
        BaseType::Real => "Real",
        BaseType::Integer => "Integer",
        BaseType::Boolean => "Boolean",
        BaseType::String => "String",
        BaseType::Clock => "Clock",
        BaseType::Enumeration(_) => "enumeration",
        BaseType::Record(_) => "record",
        BaseType::ExternalObject(_) => "ExternalObject",
        BaseType::Function => "function",
        BaseType::Unit | BaseType::Error => "unknown",
    };
    match ty.dims.as_slice() {
        [] => base.to_string(),
        dims => format!("{base}{}", dims_text(dims)),
    }
}

/// `[2, 3]`; a scalar is `[]`.
pub(crate) fn dims_text(dims: &[saltus_flat::Dim]) -> String {
    let sizes: Vec<String> = dims.iter().map(|d| d.known().map_or(":".to_string(), |n| n.to_string())).collect();
    format!("[{}]", sizes.join(", "))
}
