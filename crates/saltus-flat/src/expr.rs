//! Typed expressions. Every implicit thing is explicit: conversions are `Cast` nodes, `*` on matrices is
//! [`BinaryOp::MatMul`], vectorised calls are reductions or array constructors.

use std::sync::Arc;

use saltus_base::Span;

use crate::{BaseType, EnumId, FunctionId, LocalId, Type, VarId};

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: Type,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum ExprKind {
    Real(f64),
    Integer(i64),
    Boolean(bool),
    String(Arc<str>),
    /// The ordinal counts from 1.
    EnumLiteral(EnumId, u32),
    /// A whole variable of the model (scalar or array).
    Var(VarId),
    /// A local of the enclosing function, or an iteration variable.
    Local(LocalId),
    Time,
    /// `base[subscripts]`; fewer subscripts than dimensions are filled up with `:`.
    Index {
        base: Box<Expr>,
        subscripts: Vec<Subscript>,
    },
    /// A field of a record value; on an array of records the array of that field.
    Field {
        base: Box<Expr>,
        field: u32,
    },
    /// A record value, fields in order of its type.
    Record(Vec<Expr>),
    /// `{a, b, …}`: one more dimension than its elements. The type tells the element type of an empty one.
    Array(Vec<Expr>),
    Range {
        start: Box<Expr>,
        step: Option<Box<Expr>>,
        stop: Box<Expr>,
    },
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    If {
        condition: Box<Expr>,
        then: Box<Expr>,
        otherwise: Box<Expr>,
    },
    /// A user function; arguments are complete and in order of its inputs. The type is that of the first result;
    /// several results appear only where an equation or statement takes them apart.
    Call {
        function: FunctionId,
        arguments: Vec<Expr>,
    },
    /// A call of a function that came in as an argument: the local has type [`BaseType::Function`], the arguments are
    /// those inputs that the value does not bind, in order.
    CallLocal {
        function: LocalId,
        arguments: Vec<Expr>,
    },
    /// A call that is used for several results; type of the first. Only as right-hand side of `Tuple`.
    Builtin {
        function: Builtin,
        arguments: Vec<Expr>,
    },
    /// `sum(body for i in …)`; [`ReductionOp::Array`] is `{body for i in …}`. The first iterator is the outermost loop
    /// (for `Array`: the first dimension).
    Reduction {
        op: ReductionOp,
        body: Box<Expr>,
        iterators: Vec<Iterator>,
    },
    /// `(a, , c)`: left-hand side of an equation or statement with several results.
    Tuple(Vec<Option<Expr>>),
    /// Integer to Real, or enumeration to Integer, elementwise; the target is the expression's base type.
    Cast(Box<Expr>),
    /// A function as an argument: the inputs that are bound already, by position of the function's inputs.
    FunctionRef {
        function: FunctionId,
        bound: Vec<(u32, Expr)>,
    },
    /// Something that was wrong and has been reported.
    Error,
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Subscript {
    /// A scalar Integer, Boolean or enumeration expression: removes the dimension.
    Index(Expr),
    /// A vector of Integers: keeps the dimension with that size.
    Slice(Expr),
    /// `:`
    All,
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Iterator {
    pub local: LocalId,
    /// A vector expression.
    pub range: Expr,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum UnaryOp {
    Negate,
    Not,
}

/// Arithmetic and relations are elementwise and spread a scalar operand over an array operand, except `MatMul`, `MatPow`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    /// vector·vector (scalar), matrix·vector, vector·matrix, matrix·matrix
    MatMul,
    /// square matrix to an Integer power
    MatPow,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

impl BinaryOp {
    /// A relation, `and` or `or`: the result is Boolean whatever the operands are.
    pub fn is_boolean(self) -> bool {
        use BinaryOp::{And, Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual, Or};
        matches!(self, Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual | And | Or)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum ReductionOp {
    Sum,
    Product,
    Min,
    Max,
    Array,
}

macro_rules! builtins {
    ($($variant:ident = $text:literal),* $(,)?) => {
        /// Functions and operators of the language that look like calls.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
        pub enum Builtin { $($variant),* }

        impl Builtin {
            pub const ALL: &'static [Builtin] = &[$(Builtin::$variant),*];

            /// The name in Modelica text.
            pub fn name(self) -> &'static str {
                match self { $(Builtin::$variant => $text),* }
            }

            pub fn from_name(name: &str) -> Option<Builtin> {
                match name { $($text => Some(Builtin::$variant),)* _ => None }
            }
        }
    };
}

builtins! {
    // elementary functions
    Sin = "sin", Cos = "cos", Tan = "tan", Asin = "asin", Acos = "acos", Atan = "atan", Atan2 = "atan2",
    Sinh = "sinh", Cosh = "cosh", Tanh = "tanh", Exp = "exp", Log = "log", Log10 = "log10", Sqrt = "sqrt",
    Abs = "abs", Sign = "sign", Min = "min", Max = "max",
    // event-generating
    Div = "div", Mod = "mod", Rem = "rem", Ceil = "ceil", Floor = "floor", Integer = "integer",
    // conversions
    ToInteger = "Integer", EnumFromInteger = "$enumeration", ToString = "String",
    // derivatives and special operators
    Der = "der", Delay = "delay", Cardinality = "cardinality", Homotopy = "homotopy", SemiLinear = "semiLinear",
    InStream = "inStream", ActualStream = "actualStream", SpatialDistribution = "spatialDistribution",
    GetInstanceName = "getInstanceName",
    // events
    Initial = "initial", Terminal = "terminal", NoEvent = "noEvent", Smooth = "smooth", Sample = "sample", Pre = "pre",
    Edge = "edge", Change = "change", Reinit = "reinit", Assert = "assert", Terminate = "terminate",
    // arrays
    Ndims = "ndims", Size = "size", Scalar = "scalar", Vector = "vector", Matrix = "matrix", Identity = "identity",
    Diagonal = "diagonal", Zeros = "zeros", Ones = "ones", Fill = "fill", Linspace = "linspace",
    Sum = "sum", Product = "product", Transpose = "transpose", OuterProduct = "outerProduct",
    Symmetric = "symmetric", Cross = "cross", Skew = "skew", Cat = "cat", Promote = "promote",
    // clocks
    Clock = "Clock", Previous = "previous", Hold = "hold", SubSample = "subSample", SuperSample = "superSample",
    ShiftSample = "shiftSample", BackSample = "backSample", NoClock = "noClock", FirstTick = "firstTick",
    Interval = "interval",
    // state machines
    Transition = "transition", InitialState = "initialState", ActiveState = "activeState",
    TicksInState = "ticksInState", TimeInState = "timeInState", Excursion = "$excursion",
    // overconstrained connections
    ConnectionsRoot = "Connections.root", ConnectionsPotentialRoot = "Connections.potentialRoot",
    ConnectionsBranch = "Connections.branch", ConnectionsIsRoot = "Connections.isRoot",
    ConnectionsRooted = "Connections.rooted", ConnectionsUniqueRoot = "Connections.uniqueRoot",
    Rooted = "rooted",
    // pure(f(x))
    Pure = "pure",
}

impl Expr {
    pub fn new(kind: ExprKind, ty: Type, span: Span) -> Expr {
        Expr { kind, ty, span }
    }

    pub fn real(value: f64, span: Span) -> Expr {
        Expr::new(ExprKind::Real(value), Type::REAL, span)
    }

    pub fn integer(value: i64, span: Span) -> Expr {
        Expr::new(ExprKind::Integer(value), Type::INTEGER, span)
    }

    pub fn boolean(value: bool, span: Span) -> Expr {
        Expr::new(ExprKind::Boolean(value), Type::BOOLEAN, span)
    }

    pub fn string(value: &str, span: Span) -> Expr {
        Expr::new(ExprKind::String(value.into()), Type::STRING, span)
    }

    pub fn error(span: Span) -> Expr {
        Expr::new(ExprKind::Error, Type::ERROR, span)
    }

    pub fn builtin(function: Builtin, arguments: Vec<Expr>, ty: Type, span: Span) -> Expr {
        Expr::new(ExprKind::Builtin { function, arguments }, ty, span)
    }

    pub fn is_error(&self) -> bool {
        self.ty.is_error()
    }

    /// A literal or an array or record of literals (a negated number counts as one).
    pub fn is_literal(&self) -> bool {
        match &self.kind {
            ExprKind::Real(_)
            | ExprKind::Integer(_)
            | ExprKind::Boolean(_)
            | ExprKind::String(_)
            | ExprKind::EnumLiteral(..) => true,
            ExprKind::Array(items) | ExprKind::Record(items) => items.iter().all(Expr::is_literal),
            _ => false,
        }
    }

    /// This expression converted from Integer to Real where it is not Real yet.
    pub fn to_real(self) -> Expr {
        match (&self.kind, self.ty.base) {
            (ExprKind::Integer(value), _) => Expr::real(*value as f64, self.span),
            (_, BaseType::Integer) => {
                let ty = Type { base: BaseType::Real, dims: self.ty.dims.clone() };
                let span = self.span;
                Expr::new(ExprKind::Cast(Box::new(self)), ty, span)
            }
            _ => self,
        }
    }

    /// Calls `visit` on each direct part.
    pub fn for_each_child<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        match &self.kind {
            ExprKind::Real(_)
            | ExprKind::Integer(_)
            | ExprKind::Boolean(_)
            | ExprKind::String(_)
            | ExprKind::EnumLiteral(..)
            | ExprKind::Var(_)
            | ExprKind::Local(_)
            | ExprKind::Time
            | ExprKind::Error => {}
            ExprKind::Index { base, subscripts } => {
                visit(base);
                for s in subscripts {
                    match s {
                        Subscript::Index(e) | Subscript::Slice(e) => visit(e),
                        Subscript::All => {}
                    }
                }
            }
            ExprKind::Field { base, .. } => visit(base),
            ExprKind::Record(items) | ExprKind::Array(items) => items.iter().for_each(visit),
            ExprKind::Range { start, step, stop } => {
                visit(start);
                if let Some(step) = step {
                    visit(step);
                }
                visit(stop);
            }
            ExprKind::Unary(_, e) | ExprKind::Cast(e) => visit(e),
            ExprKind::Binary(_, l, r) => {
                visit(l);
                visit(r);
            }
            ExprKind::If { condition, then, otherwise } => {
                visit(condition);
                visit(then);
                visit(otherwise);
            }
            ExprKind::Call { arguments, .. }
            | ExprKind::CallLocal { arguments, .. }
            | ExprKind::Builtin { arguments, .. } => arguments.iter().for_each(visit),
            ExprKind::Reduction { body, iterators, .. } => {
                iterators.iter().for_each(|i| visit(&i.range));
                visit(body);
            }
            ExprKind::Tuple(items) => items.iter().flatten().for_each(visit),
            ExprKind::FunctionRef { bound, .. } => bound.iter().for_each(|(_, e)| visit(e)),
        }
    }

    /// Calls `visit` on each direct part, mutably.
    pub fn for_each_child_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        match &mut self.kind {
            ExprKind::Real(_)
            | ExprKind::Integer(_)
            | ExprKind::Boolean(_)
            | ExprKind::String(_)
            | ExprKind::EnumLiteral(..)
            | ExprKind::Var(_)
            | ExprKind::Local(_)
            | ExprKind::Time
            | ExprKind::Error => {}
            ExprKind::Index { base, subscripts } => {
                visit(base);
                for s in subscripts {
                    match s {
                        Subscript::Index(e) | Subscript::Slice(e) => visit(e),
                        Subscript::All => {}
                    }
                }
            }
            ExprKind::Field { base, .. } => visit(base),
            ExprKind::Record(items) | ExprKind::Array(items) => items.iter_mut().for_each(visit),
            ExprKind::Range { start, step, stop } => {
                visit(start);
                if let Some(step) = step {
                    visit(step);
                }
                visit(stop);
            }
            ExprKind::Unary(_, e) | ExprKind::Cast(e) => visit(e),
            ExprKind::Binary(_, l, r) => {
                visit(l);
                visit(r);
            }
            ExprKind::If { condition, then, otherwise } => {
                visit(condition);
                visit(then);
                visit(otherwise);
            }
            ExprKind::Call { arguments, .. }
            | ExprKind::CallLocal { arguments, .. }
            | ExprKind::Builtin { arguments, .. } => arguments.iter_mut().for_each(visit),
            ExprKind::Reduction { body, iterators, .. } => {
                iterators.iter_mut().for_each(|i| visit(&mut i.range));
                visit(body);
            }
            ExprKind::Tuple(items) => items.iter_mut().flatten().for_each(visit),
            ExprKind::FunctionRef { bound, .. } => bound.iter_mut().for_each(|(_, e)| visit(e)),
        }
    }

    /// Calls `visit` on this expression and all its parts, outside in.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr)) {
        visit(self);
        self.for_each_child(&mut |child| child.walk(visit));
    }
}
