//! The flat model: variables, equations, algorithms, functions.

use std::sync::Arc;

use saltus_base::{IdVec, Span};

use crate::{
    ActiveStates, EnumId, EnumType, Expr, Function, FunctionId, Local, LocalId, RecordId, RecordType, Treatment, Type,
    VarId,
};

#[derive(Clone, PartialEq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct FlatModel {
    /// Qualified name of the class.
    pub name: String,
    pub description: String,
    pub variables: IdVec<VarId, Variable>,
    pub equations: Vec<Equation>,
    pub initial_equations: Vec<Equation>,
    pub algorithms: Vec<Algorithm>,
    pub initial_algorithms: Vec<Algorithm>,
    pub functions: IdVec<FunctionId, Function>,
    pub records: IdVec<RecordId, RecordType>,
    pub enumerations: IdVec<EnumId, EnumType>,
    /// Iteration variables of reductions and `for` loops outside functions.
    pub iterators: IdVec<LocalId, Local>,
    pub experiment: Experiment,
    /// Variables declared `inner outer`, each with the variable it stands for outside. They are one where states of a
    /// state machine assign them (specification 17.3.5).
    pub inner_outer: Vec<(VarId, VarId)>,
    /// A complete model or block, which has as many equations as unknowns; not a connector, a record or a partial class.
    pub must_balance: bool,
    /// It has neither public connectors nor inputs, nor refers to something `outer`: nothing outside determines anything in it.
    pub is_closed: bool,
    /// Scalars of overdetermined connectors that a root outside of the class determines; zero in a model that is simulated.
    pub from_roots: u64,
    /// The models and blocks in it, itself first.
    pub components: Vec<Component>,
    /// What libraries say to the user about variables that nothing determines (`unassignedMessage`).
    pub unassigned_messages: Vec<(VarId, String)>,
    /// Which states of continuous-time state machines are active; made by the back end for each configuration.
    pub active_states: Option<Box<ActiveStates>>,
}

/// A component that is a model or a block, with what the variables and equations of the flat model do not tell about its own balance
/// (specification 4.8). All numbers count scalars.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Component {
    /// `a.b[2]`, empty for the model itself.
    pub name: Arc<str>,
    /// Qualified name of its class.
    pub class: Arc<str>,
    /// Where it is declared.
    pub span: Span,
    /// What its surroundings determine: flow variables of its connectors, and inputs.
    pub from_outside: u64,
    /// The same of the components inside it: unknowns of this one.
    pub inside: u64,
    /// Equations of its own connections, and of the connectors inside it that are not connected.
    pub connections: u64,
    /// Variables to which a modification from outside gives a value, while the class has none for them.
    pub given: u64,
    /// Nothing makes the numbers uncertain: no expandable or overdetermined connector, no connection to something `outer`.
    pub is_countable: bool,
    /// It stands for something outside of the model: the `inner` that is missing.
    pub is_outside: bool,
    pub treatment: Treatment,
}

/// The `experiment` annotation.
#[derive(Clone, PartialEq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct Experiment {
    pub start_time: Option<f64>,
    pub stop_time: Option<f64>,
    pub interval: Option<f64>,
    pub tolerance: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum Variability {
    Constant,
    Parameter,
    Discrete,
    Continuous,
}

/// Only for variables at the top level of the model and of its top-level connectors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum Causality {
    Local,
    Input,
    Output,
}

/// Connector prefix.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum Prefix {
    None,
    Flow,
    Stream,
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Variable {
    /// `a.b[2].c`
    pub name: String,
    /// Built-in base type (never a record) with dimensions.
    pub ty: Type,
    pub variability: Variability,
    pub causality: Causality,
    pub prefix: Prefix,
    pub attributes: Attributes,
    /// Declaration equation; for parameters and constants their value.
    pub binding: Option<Expr>,
    pub description: String,
    pub is_protected: bool,
    /// `annotation(HideResult = true)`
    pub hide_result: bool,
    /// The value was used at compile time (sizes, conditions, `Evaluate`): changing it needs recompilation.
    pub is_structural: bool,
    pub is_final: bool,
    pub span: Span,
}

/// How much a `start` is meant for the variable that has it: the model component hierarchy level on which it is given, the
/// model itself being 1. Less is more. (Specification: section 8.6.2.)
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize)]
pub struct Confidence {
    /// Where the value is a parameter, the outermost level on which this, or the one that it is equal to, has its value.
    pub of_value: u32,
    pub of_attribute: u32,
}

impl Default for Confidence {
    fn default() -> Self {
        Confidence { of_value: u32::MAX, of_attribute: u32::MAX }
    }
}

/// Attributes of built-in types; array variables have array values (or a scalar that holds for all elements).
#[derive(Clone, PartialEq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct Attributes {
    pub start: Option<Expr>,
    pub fixed: Option<Expr>,
    pub min: Option<Expr>,
    pub max: Option<Expr>,
    pub nominal: Option<Expr>,
    pub unit: Option<Expr>,
    pub display_unit: Option<Expr>,
    pub quantity: Option<Expr>,
    pub state_select: Option<Expr>,
    pub unbounded: Option<Expr>,
    /// `annotation(absoluteValue = false)`: a difference of two values, which has no offset in any unit (specification 18.5).
    pub is_difference: bool,
    /// Of `start`.
    pub confidence: Confidence,
}

impl Attributes {
    /// All attributes that are set, with their Modelica names, in a fixed order.
    pub fn iter(&self) -> impl std::iter::Iterator<Item = (&'static str, &Expr)> {
        [
            ("quantity", &self.quantity),
            ("unit", &self.unit),
            ("displayUnit", &self.display_unit),
            ("min", &self.min),
            ("max", &self.max),
            ("start", &self.start),
            ("fixed", &self.fixed),
            ("nominal", &self.nominal),
            ("stateSelect", &self.state_select),
            ("unbounded", &self.unbounded),
        ]
        .into_iter()
        .filter_map(|(name, value)| value.as_ref().map(|v| (name, v)))
    }

    pub fn iter_mut(&mut self) -> impl std::iter::Iterator<Item = &mut Expr> {
        [
            &mut self.quantity,
            &mut self.unit,
            &mut self.display_unit,
            &mut self.min,
            &mut self.max,
            &mut self.start,
            &mut self.fixed,
            &mut self.nominal,
            &mut self.state_select,
            &mut self.unbounded,
        ]
        .into_iter()
        .flatten()
    }

    /// The slot of the attribute with this Modelica name.
    pub fn slot(&mut self, name: &str) -> Option<&mut Option<Expr>> {
        Some(match name {
            "quantity" => &mut self.quantity,
            "unit" => &mut self.unit,
            "displayUnit" => &mut self.display_unit,
            "min" => &mut self.min,
            "max" => &mut self.max,
            "start" => &mut self.start,
            "fixed" => &mut self.fixed,
            "nominal" => &mut self.nominal,
            "stateSelect" => &mut self.state_select,
            "unbounded" => &mut self.unbounded,
            _ => return None,
        })
    }
}

/// How an equation came about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Origin {
    /// Written in an equation section.
    Declared,
    /// From a connection set (also `flow = 0` of an unconnected connector).
    Connection,
    /// From the value of an array or record declaration.
    Binding,
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Equation {
    pub kind: EquationKind,
    pub origin: Origin,
    /// Name of the component instance the equation belongs to, empty at the top.
    pub component: Arc<str>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum EquationKind {
    /// Both sides have the same type: scalar, array or record. `Tuple = Call` takes several results.
    Equality {
        left: Expr,
        right: Expr,
    },
    /// `otherwise` is empty where there is no `else`.
    If {
        branches: Vec<(Expr, Vec<Equation>)>,
        otherwise: Vec<Equation>,
    },
    When {
        branches: Vec<(Expr, Vec<Equation>)>,
    },
    Assert {
        condition: Expr,
        message: Expr,
        level: Option<Expr>,
    },
    Terminate {
        message: Expr,
    },
    /// In `when` only.
    Reinit {
        state: Expr,
        value: Expr,
    },
    /// A call for its effect.
    Call(Expr),
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Algorithm {
    pub statements: Vec<Statement>,
    pub component: Arc<str>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Statement {
    pub kind: StatementKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum StatementKind {
    /// The target is built from `Var`/`Local`, `Index` and `Field`, or is an `Array` or a `Record` of such; a `Tuple` of targets takes
    /// several results.
    Assign {
        target: Expr,
        value: Expr,
    },
    If {
        branches: Vec<(Expr, Vec<Statement>)>,
        otherwise: Vec<Statement>,
    },
    For {
        local: LocalId,
        range: Expr,
        body: Vec<Statement>,
    },
    While {
        condition: Expr,
        body: Vec<Statement>,
    },
    When {
        branches: Vec<(Expr, Vec<Statement>)>,
    },
    Break,
    Return,
    Assert {
        condition: Expr,
        message: Expr,
        level: Option<Expr>,
    },
    Terminate {
        message: Expr,
    },
    Reinit {
        state: Expr,
        value: Expr,
    },
    Call(Expr),
}
