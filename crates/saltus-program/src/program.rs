//! The tables of a simulation program.

use std::sync::Arc;

use saltus_base::{IdVec, Span};
use saltus_flat::{EnumId, EnumType, FunctionId, RecordId, RecordType, Type};
use saltus_procedure::Procedure;

use crate::{BasePartition, CallableId, RelationId, Section, SlotId};

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct SimProgram {
    /// Name of the model.
    pub name: String,
    pub slots: IdVec<SlotId, Slot>,
    pub time: SlotId,
    /// The value of `initial()`.
    pub initial: SlotId,
    /// The value of `terminal()`.
    pub terminal: SlotId,
    pub states: Vec<State>,
    /// States that are chosen among several variables while the simulation runs.
    pub state_sets: Vec<StateSet>,
    /// Variable and the slot of its `pre` value.
    pub pre: Vec<(SlotId, SlotId)>,
    pub relations: IdVec<RelationId, Relation>,
    pub time_events: Vec<TimeEvent>,
    pub samples: Vec<Sample>,
    pub delays: Vec<Delay>,
    pub transports: Vec<Transport>,
    pub reinits: Vec<Reinit>,
    pub assertions: Vec<Assertion>,
    pub terminations: Vec<Termination>,
    pub initial_checks: Vec<InitialCheck>,
    /// Everything a user may look at, in order of declaration.
    pub variables: Vec<Variable>,
    /// Parameters whose value is computed from others. Evaluated once.
    pub parameter_section: Section,
    /// Start values as first guesses of the initial system, and values of `pre` before it.
    pub guess_section: Section,
    /// The initial system, relations literal.
    pub initial_section: Section,
    /// The same with the parameter of `homotopy` as a known variable; empty if the model does not use it.
    pub homotopy_section: Section,
    /// Continuous and discrete equations in event order, relations literal.
    pub event_section: Section,
    /// What the derivatives need, discrete variables and relations frozen.
    pub derivative_section: Section,
    /// What the crossing functions need beyond that, and the crossing functions.
    pub crossing_section: Section,
    /// The rest of the continuous variables, and the conditions of assertions.
    pub output_section: Section,
    /// Parts of the model that are evaluated at the ticks of clocks, and their sections.
    pub base_partitions: Vec<BasePartition>,
    pub clocked_sections: Vec<Section>,
    /// After the derivatives: the coefficients of the constraints of state sets.
    pub selection_section: Section,
    /// Discrete slots that the derivatives depend on: an event that changes none of them and no state does not
    /// disturb the integrator.
    pub derivative_modes: Vec<SlotId>,
    /// Parameters whose values the program was made for: another value needs another program. Sorted.
    pub structural: Vec<SlotId>,
    pub experiment: Experiment,
    /// Functions that are called rather than written out, for arguments of certain sizes.
    pub callables: IdVec<CallableId, Callable>,
    /// What the callables refer to: the functions of the model, and behind them texts with holes.
    pub procedures: IdVec<FunctionId, Arc<Procedure>>,
    pub records: IdVec<RecordId, RecordType>,
    pub enumerations: IdVec<EnumId, EnumType>,
}

/// A function with the shapes of its arguments and results.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Callable {
    pub function: FunctionId,
    pub arguments: Vec<Argument>,
    /// Types of all results, sizes known; their scalars follow each other row-major, records field by field.
    pub results: Vec<Type>,
    /// A call that is made for what it does, or that gives another result every time.
    pub effect: Option<Effect>,
    /// What its `derivative` annotation names.
    pub derivative: Option<CallDerivative>,
}

/// How a call is differentiated along a direction by a call of another function.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct CallDerivative {
    /// Takes the scalars of the call, then tangents.
    pub callable: CallableId,
    /// Scalars of the call whose tangents it takes, in order.
    pub tangents: Vec<u32>,
    /// Scalars of the call whose tangents must be zero (`zeroDerivative`).
    pub constant: Vec<u32>,
    /// For each scalar result of the call that of the derivative; `None` if it does not change.
    pub results: Vec<Option<u32>>,
}

/// A call of an impure function (specification section 12.3), made once and in order however often its equations are
/// evaluated. Two scalars come before its arguments: whether it is active, and one that only says what must be computed
/// before. One scalar comes before its results: whether the call was active.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Effect {
    /// Position among all effects, in the order of the source text.
    pub number: u32,
    /// Nothing depends on its results: it is made when the point has been found, not while it is sought.
    pub is_deferred: bool,
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Argument {
    /// Takes as many scalars of the call as the type has.
    Scalars(Type),
    /// A String known at compile time.
    Text(String),
    /// A String that is evaluated for each call, by a procedure whose inputs are the holes. They take scalars of the call.
    Template { text: FunctionId, holes: Vec<Type> },
    /// An external object; its slot holds the handle.
    Object(SlotId),
    /// A function with some inputs bound: takes the scalars of the bound inputs.
    Function { function: FunctionId, bound: Vec<(u32, Type)> },
    /// An array or a record with Strings or objects in it, or with arrays whose sizes its type leaves open: elements in
    /// row-major order, or fields. Sizes of the array itself are known.
    Parts { ty: Type, items: Vec<Argument> },
}

impl Argument {
    /// The argument, then those it is made of.
    pub fn visit<'a>(&'a self, act: &mut dyn FnMut(&'a Argument)) {
        act(self);
        if let Argument::Parts { items, .. } = self {
            items.iter().for_each(|item| item.visit(act));
        }
    }

    /// Whether it holds for the argument or something in it.
    pub fn any(&self, holds: impl Fn(&Argument) -> bool) -> bool {
        let mut found = false;
        self.visit(&mut |a| found |= holds(a));
        found
    }

    /// The handles of the external objects in it.
    pub fn objects(&self) -> Vec<SlotId> {
        let mut slots = Vec::new();
        self.visit(&mut |a| {
            if let Argument::Object(slot) = a {
                slots.push(*slot);
            }
        });
        slots
    }
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Slot {
    /// For messages and dumps: `h`, `der(h)`, `pre(n)`.
    pub name: String,
    pub kind: SlotKind,
    pub ty: SlotType,
    /// Before anything has been evaluated.
    pub initial: f64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum SlotKind {
    Time,
    /// `initial()`, `terminal()`, `sample(…)`: set by the driver.
    Flag,
    Parameter,
    /// Given from outside.
    Input,
    State,
    Derivative,
    /// A continuous variable that is no state.
    Algebraic,
    /// Changes at events only; also relations, conditions and thresholds that the compiler introduced.
    Discrete,
    /// Belongs to a clocked partition: changes at ticks only.
    Clocked,
    Pre,
    /// A crossing function or another value for the driver.
    Auxiliary,
    /// λ of `homotopy(actual, simplified)` = λ·actual + (1 − λ)·simplified; 1 except where the driver moves it.
    Homotopy,
}

impl SlotKind {
    /// May its value change between events?
    pub fn is_continuous(self) -> bool {
        matches!(
            self,
            SlotKind::Time
                | SlotKind::Input
                | SlotKind::State
                | SlotKind::Derivative
                | SlotKind::Algebraic
                | SlotKind::Auxiliary
        )
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum SlotType {
    Real,
    Integer,
    Boolean,
    /// The value is the ordinal, from 1.
    Enumeration,
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct State {
    pub value: SlotId,
    pub derivative: SlotId,
    /// Scales the absolute tolerance.
    pub nominal: f64,
}

/// N candidates with K constraints between them: N - K of the candidates are states, which ones is decided by the driver.
///
/// ```text
/// x^2 + y^2 = 1     candidates x, y     state s = x or y     coefficients of the constraint: 2 * x, 2 * y
/// ```
///
/// The candidates are solved from the constraints and from `s = candidate(choice)`. A candidate can be given up while
/// the constraints can be solved for those that are no states: while their columns of coefficients are regular.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct StateSet {
    /// The same choice for velocities and positions, highest derivatives first.
    pub levels: Vec<StateSetLevel>,
    /// For each state the number of its candidate, from 1; set by the driver.
    pub choice: Vec<SlotId>,
    /// For each candidate: how much it is wanted as a state; one is ordinary.
    pub weights: Vec<f64>,
    /// For each candidate the typical magnitude.
    pub nominals: Vec<f64>,
    pub n_constraints: usize,
    /// Constraint, candidate and the slot of the coefficient after the selection section; others are zero.
    pub coefficients: Vec<(u32, u32, SlotId)>,
    /// The first constraint.
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct StateSetLevel {
    /// As many as candidates without constraints.
    pub states: Vec<SlotId>,
    pub candidates: Vec<SlotId>,
}

/// `left op right` with a continuous operand. Its memory keeps the value of the last event; `crossing` holds
/// `left - right`, and `scale` max(|left|, |right|).
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Relation {
    pub op: RelationOp,
    pub memory: SlotId,
    pub crossing: SlotId,
    pub scale: SlotId,
    /// As in the source: `h < 0.0`.
    pub text: String,
    pub span: Span,
}

/// Up to this times the magnitude of its operands the difference of a relation is rounding: either value will do.
pub const RELATION_BAND: f64 = 1000.0 * f64::EPSILON;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, serde::Serialize, serde::Deserialize)]
pub enum RelationOp {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl RelationOp {
    /// The value of the relation for `z = left - right`.
    pub fn holds(self, z: f64) -> bool {
        match self {
            RelationOp::Less => z < 0.0,
            RelationOp::LessEqual => z <= 0.0,
            RelationOp::Greater => z > 0.0,
            RelationOp::GreaterEqual => z >= 0.0,
        }
    }

    /// Is the relation true for negative z?
    pub fn is_true_below(self) -> bool {
        matches!(self, RelationOp::Less | RelationOp::LessEqual)
    }
}

/// A relation of `time` with something that changes at events only.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct TimeEvent {
    /// Stored in the event section.
    pub threshold: SlotId,
    /// The relation changes only after the threshold (`time > t`), not at it (`time >= t`).
    pub is_strict: bool,
    pub memory: SlotId,
    pub text: String,
    pub span: Span,
}

impl TimeEvent {
    /// The smallest time at which the relation has changed.
    pub fn key(&self, threshold: f64) -> f64 {
        if self.is_strict { threshold.next_up() } else { threshold }
    }
}

/// `sample(start, interval)`
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Sample {
    /// Slots that hold the two arguments after the parameter section.
    pub start: SlotId,
    pub interval: SlotId,
    /// 1 in the first round of an event at a tick.
    pub active: SlotId,
    /// Number of the next tick.
    pub tick: SlotId,
    pub span: Span,
}

/// `delay(expr, delayTime)`
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Delay {
    /// Holds `expr` after the crossing section and after the initial sections.
    pub input: SlotId,
    /// Holds `delayTime`: a parameter if the delay is fixed, else a variable.
    pub time: SlotId,
    /// Set by the driver.
    pub output: SlotId,
    pub is_fixed: bool,
    /// `expr` changes at events only, whatever its declared variability.
    pub is_discrete: bool,
    pub span: Span,
}

/// `spatialDistribution(in0, in1, x, positiveVelocity, …)`
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Transport {
    /// Hold `in0` and `in1` after the crossing section.
    pub inputs: [SlotId; 2],
    /// Holds `x`.
    pub position: SlotId,
    /// Holds `positiveVelocity` after the crossing section.
    pub is_positive: SlotId,
    /// What arrives at 0 and at 1; set by the driver.
    pub outputs: [SlotId; 2],
    /// Points and values at the start.
    pub profile: Vec<(SlotId, SlotId)>,
    pub span: Span,
}

/// `reinit(state, …)` in a `when`; both slots are stored in the event section.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Reinit {
    pub state: SlotId,
    pub active: SlotId,
    pub value: SlotId,
    pub span: Span,
}

/// `assert(condition, message)`; the condition is stored in the output section.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Assertion {
    pub condition: SlotId,
    pub message: Message,
    pub is_warning: bool,
    pub span: Span,
    /// Of an assertion in a function: where it is called, from the inside out, with a remark each.
    pub calls: Vec<(Span, String)>,
}

/// A text for the user.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Message {
    Text(String),
    /// Evaluated when it is shown, by a procedure whose inputs are the holes. What a hole shows is stored in the output
    /// section.
    Template {
        as_written: String,
        text: FunctionId,
        holes: Vec<(Type, Vec<SlotId>)>,
    },
}

impl Message {
    /// Without values: the source of what is not known.
    pub fn as_written(&self) -> &str {
        match self {
            Message::Text(text) => text,
            Message::Template { as_written, .. } => as_written,
        }
    }
}

/// `terminate(message)` in a `when`; `active` is stored in the event section.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Termination {
    pub active: SlotId,
    pub message: Message,
    pub span: Span,
}

/// An initial condition that the other equations leave nothing to determine: after initialisation it must hold. Both slots
/// are stored in the initial section.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct InitialCheck {
    pub left: SlotId,
    pub right: SlotId,
    pub text: String,
    pub span: Span,
}

/// A scalar variable of the model as the user knows it. Its slot is also the reference under which other programs know it;
/// variables with the same slot are aliases of each other.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Variable {
    pub name: String,
    pub slot: SlotId,
    pub ty: SlotType,
    pub causality: Causality,
    pub variability: Variability,
    /// `annotation(HideResult = true)`
    pub is_hidden: bool,
    pub is_protected: bool,
    pub is_final: bool,
    pub description: String,
    /// Empty if there is none, as the next two.
    pub unit: String,
    pub display_unit: String,
    pub quantity: String,
    /// Attributes that the declaration gives as literals.
    pub start: Option<f64>,
    pub fixed: Option<bool>,
    pub min: Option<f64>,
    pub max: Option<f64>,
    pub nominal: Option<f64>,
    /// Names the literals.
    pub enumeration: Option<EnumId>,
}

/// How a variable takes part in the exchange with the surroundings of the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Causality {
    Parameter,
    /// At the top level.
    Input,
    Output,
    Local,
}

/// When the value of a variable may change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize)]
pub enum Variability {
    Constant,
    Parameter,
    /// At events.
    Discrete,
    Continuous,
}

impl Variable {
    /// A continuous local variable of which nothing else is known.
    pub fn new(name: impl Into<String>, slot: SlotId, ty: SlotType) -> Self {
        Variable {
            name: name.into(),
            slot,
            ty,
            causality: Causality::Local,
            variability: Variability::Continuous,
            is_hidden: false,
            is_protected: false,
            is_final: false,
            description: String::new(),
            unit: String::new(),
            display_unit: String::new(),
            quantity: String::new(),
            start: None,
            fixed: None,
            min: None,
            max: None,
            nominal: None,
            enumeration: None,
        }
    }

    /// Constants and parameters do not change during a simulation.
    pub fn is_parameter(&self) -> bool {
        self.variability <= Variability::Parameter
    }
}

/// What the `experiment` annotation asks for.
#[derive(Clone, PartialEq, Default, Debug, serde::Serialize, serde::Deserialize)]
pub struct Experiment {
    pub start_time: Option<f64>,
    pub stop_time: Option<f64>,
    pub interval: Option<f64>,
    pub tolerance: Option<f64>,
}

impl SimProgram {
    /// A program without anything; the three flags have no slots yet.
    pub fn empty(name: &str) -> SimProgram {
        let none = <SlotId as saltus_base::Index>::from_usize(0);
        SimProgram {
            state_sets: Vec::new(),
            selection_section: Section::default(),
            name: name.into(),
            slots: IdVec::new(),
            time: none,
            initial: none,
            terminal: none,
            states: Vec::new(),
            pre: Vec::new(),
            relations: IdVec::new(),
            time_events: Vec::new(),
            samples: Vec::new(),
            reinits: Vec::new(),
            assertions: Vec::new(),
            terminations: Vec::new(),
            initial_checks: Vec::new(),
            variables: Vec::new(),
            parameter_section: Section::default(),
            guess_section: Section::default(),
            initial_section: Section::default(),
            event_section: Section::default(),
            derivative_section: Section::default(),
            crossing_section: Section::default(),
            output_section: Section::default(),
            homotopy_section: Section::default(),
            delays: Vec::new(),
            transports: Vec::new(),
            base_partitions: Vec::new(),
            clocked_sections: Vec::new(),
            derivative_modes: Vec::new(),
            structural: Vec::new(),
            experiment: Experiment::default(),
            callables: IdVec::new(),
            procedures: IdVec::new(),
            records: IdVec::new(),
            enumerations: IdVec::new(),
        }
    }

    /// The memory of a new instance.
    pub fn initial_memory(&self) -> Vec<f64> {
        self.slots.values().map(|s| s.initial).collect()
    }

    /// All sections with their names, but for those of clocked partitions.
    pub fn sections(&self) -> [(&'static str, &Section); 9] {
        [
            ("parameters", &self.parameter_section),
            ("guesses", &self.guess_section),
            ("initial", &self.initial_section),
            ("homotopy", &self.homotopy_section),
            ("events", &self.event_section),
            ("derivatives", &self.derivative_section),
            ("crossings", &self.crossing_section),
            ("outputs", &self.output_section),
            ("selection", &self.selection_section),
        ]
    }

    pub fn slot_name(&self, slot: SlotId) -> &str {
        self.slots.get(slot).map_or("?", |s| &s.name)
    }

    /// The slot of the homotopy parameter, if the model uses `homotopy`.
    pub fn homotopy(&self) -> Option<SlotId> {
        self.slots.iter().find(|(_, s)| s.kind == SlotKind::Homotopy).map(|(id, _)| id)
    }

    pub fn find_variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|v| v.name == name)
    }
}

/// Several threads may run one program.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<SimProgram>();
};
