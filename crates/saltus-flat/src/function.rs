//! Functions: typed locals and a body of statements, or an external call.

use saltus_base::{IdVec, Span};

use crate::uses::for_each_expr_of_statements;
use crate::{BaseType, Expr, ExprKind, FunctionId, LocalId, Statement, Type};

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

impl Function {
    /// Is there a derivative that the body cannot tell?
    ///
    /// ```text
    /// function position input Real q_qd_qdd[3]; input Real t; output Real q;
    /// algorithm q := q_qd_qdd[1]; annotation(derivative(noDerivative = q_qd_qdd) = velocity);
    /// ```
    ///
    /// The body reads nothing that the derivative is taken by: by the chain rule it would be zero, or that of the inputs without
    /// one. (Specification: section 12.7.1, `noDerivative`.)
    pub fn states_derivative(&self) -> bool {
        self.external.is_none() && self.derivatives.iter().any(|d| self.is_stated(d))
    }

    fn is_stated(&self, derivative: &FunctionDerivative) -> bool {
        let is_left_out =
            |input: &LocalId| derivative.no_derivative.contains(input) || derivative.zero_derivative.contains(input);
        let is_real = |input: &LocalId| self.locals.get(*input).is_some_and(|l| l.ty.base == BaseType::Real);
        let mut by = self.inputs.iter().filter(|input| is_real(input) && !is_left_out(input));
        !derivative.no_derivative.is_empty() && by.all(|&input| !self.reads(input))
    }

    fn reads(&self, local: LocalId) -> bool {
        let mut found = false;
        let mut visit = |e: &Expr| found |= mentions(e, local);
        for_each_expr_of_statements(&self.body, &mut visit);
        let declared = self.locals.values().flat_map(|l| l.sizes.iter().flatten().chain(&l.default));
        declared.for_each(visit);
        found
    }
}

fn mentions(expr: &Expr, local: LocalId) -> bool {
    let mut found = expr.kind == ExprKind::Local(local);
    expr.for_each_child(&mut |child| found |= mentions(child, local));
    found
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

impl Local {
    /// `Real x[:]`, whose size comes with its value; without one it has no elements (specification 12.4.5).
    pub fn has_open_size(&self) -> bool {
        let is_stated = |d: usize| matches!(self.sizes.get(d), Some(Some(_)));
        self.ty.dims.iter().enumerate().any(|(d, dim)| dim.known().is_none() && !is_stated(d))
    }
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
    /// `Include`: C text that declares or defines the function.
    pub includes: Vec<String>,
    /// `IncludeDirectory`, as URIs or paths.
    pub include_directories: Vec<String>,
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

/// How C is given an argument, or gives its result (specification 12.9.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Passing {
    Real,
    /// Integer, Boolean and enumeration.
    Integer,
    /// Strings, objects, arrays, records, and whatever the function writes.
    Address,
}

impl Passing {
    pub fn of(ty: &Type) -> Passing {
        match ty.base {
            _ if !ty.dims.is_empty() => Passing::Address,
            BaseType::Real => Passing::Real,
            BaseType::Integer | BaseType::Boolean | BaseType::Enumeration(_) => Passing::Integer,
            _ => Passing::Address,
        }
    }
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

/// Does the C text of an `Include` annotation define functions, or only name headers? A model that brings a function of its own means
/// that one, not what goes by the same name elsewhere.
pub fn defines_code(includes: &[String]) -> bool {
    let is_code = |line: &str| !(line.is_empty() || line.starts_with('#') || line.starts_with("//"));
    includes.iter().flat_map(|text| text.lines()).any(|line| is_code(line.trim()))
}
