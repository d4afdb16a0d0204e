//! Functions: typed locals and a body of statements, or an external call.

use saltus_base::{IdVec, Span};

use crate::{Expr, FunctionId, LocalId, Statement, Type};

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Function {
    /// Qualified name; unique in a flat model (instances of one function in two packages get a suffix).
    pub name: String,
    pub locals: IdVec<LocalId, Local>,
    pub inputs: Vec<LocalId>,
    pub outputs: Vec<LocalId>,
    /// Empty for external functions.
    pub body: Vec<Statement>,
    pub external: Option<External>,
    pub purity: Purity,
    /// Record constructors have no body: the result is the record of their inputs.
    pub is_record_constructor: bool,
    /// Functions of which this one is the first to be tried as derivative, in order of declaration.
    pub derivatives: Vec<FunctionDerivative>,
    pub inverses: Vec<FunctionInverse>,
    /// `Inline = true`, `LateInline = true`, `InlineAfterIndexReduction = true`
    pub inline: bool,
    pub late_inline: bool,
    pub inline_after_index_reduction: bool,
    /// `smoothOrder`
    pub smooth_order: Option<u32>,
    /// `GenerateEvents = true`
    pub generate_events: bool,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Purity {
    Pure,
    Impure,
}

/// An input, output, protected variable, or iteration variable of a `for`.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Local {
    pub name: String,
    pub ty: Type,
    /// Sizes of the dimensions that the type does not know, as expressions of inputs; `None` where they come with the
    /// value. As long as `ty.dims`.
    pub sizes: Vec<Option<Expr>>,
    /// Default of an input, initial value of another variable.
    pub default: Option<Expr>,
    pub span: Span,
}

/// `external "C" result = name(arguments)`
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct External {
    /// `"C"`, `"FORTRAN 77"` or `"builtin"`.
    pub language: String,
    pub name: String,
    pub arguments: Vec<ExternalArgument>,
    pub result: Option<LocalId>,
    /// `Library`
    pub libraries: Vec<String>,
    /// `LibraryDirectory`, as URIs or paths.
    pub directories: Vec<String>,
    /// Of a constructor: the function that ends the life of the external object.
    pub destructor: Option<FunctionId>,
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum ExternalArgument {
    /// An expression of inputs (also `size(x, 1)`).
    Input(Expr),
    /// An output or protected variable that the function writes.
    Output(LocalId),
}

/// `derivative(order = 2, noDerivative = a, zeroDerivative = b) = f_der`
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct FunctionDerivative {
    pub function: FunctionId,
    pub order: u32,
    pub no_derivative: Vec<LocalId>,
    pub zero_derivative: Vec<LocalId>,
}

/// `inverse(x = f_inv(y, z))`
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct FunctionInverse {
    /// The input that can be computed.
    pub input: LocalId,
    pub function: FunctionId,
    /// Arguments of the inverse, as inputs and outputs of this function.
    pub arguments: Vec<LocalId>,
}
