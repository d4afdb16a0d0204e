//! The scalar hybrid system between the flat model and the program: one slot per scalar, equations on the graph.
//!
//! In: the declarations of a flat model. Out: a [`System`] with a slot for each element of each variable; the lowering
//! passes add equations, derivatives, `pre` values, relations and conditions to it.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use saltus_base::{IdVec, Index, Span};
use saltus_flat::assigned::assigned_in_when;
use saltus_flat::{BaseType, Causality, Confidence, FlatModel, FunctionId, VarId, Variability, Variable, count};
use saltus_program::{
    Assertion, Callable, CallableId, Delay, ElementNames, InitialCheck, Reinit, Relation, RelationId, RelationOp,
    Sample, Slot, SlotId, SlotKind, SlotType, Slots, Termination, TimeEvent, Transport,
};

use crate::clocks::Clocks;
use crate::dag::{Dag, NodeId};
use crate::families::Families;
use crate::initial_reinits::InitialReinit;
use crate::lower::{Memo, VoidCall};
use crate::magnitudes::USUAL;
use crate::state_sets::StateSet;
use crate::tuning::form::MOST_ELEMENTS;

/// Every pass works on it, from lowering to emission; what only some of the stages have stands in
/// [`LoweredSystem`](crate::sorted), `ReducedSystem` and `SortedSystem` around it.
pub struct System {
    pub dag: Dag,
    pub slots: Slots,
    pub time: SlotId,
    pub initial: SlotId,
    pub terminal: SlotId,
    /// The slots of each flat variable's elements; empty for variables that have none (Strings, external objects).
    pub elements: IdVec<VarId, Vec<SlotId>>,
    pub derivative_of: BTreeMap<SlotId, SlotId>,
    pub pre_of: BTreeMap<SlotId, SlotId>,
    pub starts: BTreeMap<SlotId, Start>,
    pub equations: Vec<ScalarEquation>,
    pub initial_equations: Vec<ScalarEquation>,
    /// What linearised equations were before, by their places in `equations`.
    pub exact: BTreeMap<usize, ScalarEquation>,
    /// Conditions of `when` in states of machines, with the positions of the states.
    pub state_conditions: Vec<(usize, SlotId)>,
    /// Equations for where states of machines are entered.
    pub entries: Vec<EntryCondition>,
    pub parameters: Parameters,
    pub events: Events,
    pub checks: Checks,
    pub history: History,
    pub calls: Calls,
    pub clocks: Clocks,
    /// States that are chosen while the simulation runs.
    pub state_sets: Vec<StateSet>,
    pub introduced: Introduced,
    /// Families of equations that are computed as loops.
    pub families: Families,
    /// What lowering has found already.
    pub memo: Memo,
}

#[derive(Default)]
pub struct Parameters {
    /// Slots that are computed once, from other parameters.
    pub assignments: Vec<Assignment>,
    /// Parameters with `fixed = false`: unknowns of the initial system.
    pub free: Vec<SlotId>,
    /// Values before the simulation, by slot, as far as they are known then.
    pub values: Vec<Option<f64>>,
}

/// What makes events, and what happens at them beyond equations.
#[derive(Default)]
pub struct Events {
    pub relations: IdVec<RelationId, Relation>,
    /// Crossing function and scale of each relation.
    pub crossings: Vec<Assignment>,
    pub time_events: Vec<TimeEvent>,
    pub samples: Vec<Sample>,
    pub reinits: Vec<Reinit>,
    pub terminations: Vec<Termination>,
}

/// What must hold, without determining anything.
#[derive(Default)]
pub struct Checks {
    pub assertions: Vec<Assertion>,
    /// Conditions of the assertions.
    pub conditions: Vec<Assignment>,
    /// Numbers in the messages of assertions and terminations.
    pub shown_values: Vec<Assignment>,
    /// Initial conditions that are not solved for.
    pub initial: Vec<InitialCheck>,
}

/// Operators that look back in time.
#[derive(Default)]
pub struct History {
    pub delays: Vec<Delay>,
    pub transports: Vec<Transport>,
    /// Slots among the crossing functions whose values the driver keeps.
    pub inputs: Vec<SlotId>,
    /// Which delays of the model need derivatives, found by earlier attempts.
    pub wanted: Rates,
    /// Derivatives of what the driver sets, as far as they are wanted.
    pub rates: BTreeMap<SlotId, NodeId>,
}

/// A delay of the model, by its number, and how often it is differentiated.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Rates(pub BTreeMap<usize, u32>);

/// Functions that are called rather than written out.
#[derive(Default)]
pub struct Calls {
    pub callables: IdVec<CallableId, Callable>,
    /// Their names, for messages.
    pub names: IdVec<CallableId, String>,
    /// Calls of impure functions whose results are not used.
    pub void: Vec<VoidCall>,
    /// Functions whose derivatives were wanted and do not exist.
    pub underived: Vec<FunctionId>,
    /// All scalar arguments of calls that stand with some of them only
    /// ([`stated_derivatives`](crate::lower::stated_derivatives)).
    pub stated: Vec<Vec<NodeId>>,
}

/// Slots that stand for an operator, by its operands: the same operator on the same operands is one slot.
#[derive(Default)]
pub struct Introduced {
    /// Memory of a relation, by what it compares.
    pub relations: BTreeMap<(u8, NodeId, NodeId), SlotId>,
    /// Memory of a `floor` with events.
    pub floors: BTreeMap<NodeId, SlotId>,
    /// Conditions of `when`.
    pub conditions: BTreeMap<NodeId, SlotId>,
    /// `reinit`s that may be active initially.
    pub initial_reinits: Vec<InitialReinit>,
    /// `der(expression)`
    pub differentiated: HashMap<NodeId, SlotId>,
    /// Derivatives that are ordinary unknowns since the index was reduced, by what they are the derivatives of.
    pub given_up: BTreeMap<SlotId, SlotId>,
    pub samples: HashMap<(NodeId, NodeId), SlotId>,
    pub delays: HashMap<(NodeId, NodeId), SlotId>,
    pub homotopies: HashMap<(NodeId, NodeId), SlotId>,
    /// Derivatives of inputs.
    pub input_derivatives: BTreeMap<SlotId, SlotId>,
    /// λ of all `homotopy`, if it is used.
    pub lambda: Option<SlotId>,
}

/// `slot := node`
#[derive(Clone, Debug)]
pub struct Assignment {
    pub slot: SlotId,
    pub node: NodeId,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Start {
    pub value: NodeId,
    pub is_fixed: bool,
    pub confidence: Confidence,
    pub span: Span,
}

/// What holds where a state of a machine is entered.
#[derive(Clone, Debug)]
pub struct EntryCondition {
    /// Position among the states of all machines.
    pub state: usize,
    /// An initial equation of the state: it gives way to entry equations, and is left out where the state goes on with its last values.
    pub is_initial: bool,
    pub equation: ScalarEquation,
}

#[derive(Clone, Debug)]
pub struct ScalarEquation {
    pub left: NodeId,
    pub right: NodeId,
    /// If set, the equation is `target := right` and can be solved for nothing else.
    pub target: Option<SlotId>,
    /// The right-hand side in the initial system, where that is another one.
    pub initially: Option<NodeId>,
    /// Equations between Reals may be rearranged; others only be read as an assignment.
    pub is_real: bool,
    pub span: Span,
    /// The state of a machine that it belongs to, if that is linearised where it is entered.
    pub linearized: Option<usize>,
}

pub fn declare_variables(model: &FlatModel) -> System {
    let mut slots = Slots::default();
    // One table of millions need not be copied while it grows.
    let n_elements = model.variables.values().filter_map(|v| v.ty.n_elements()).filter(|&n| n <= MOST_ELEMENTS);
    slots.reserve_exact(n_elements.fold(0, u64::saturating_add).min(MOST_ELEMENTS) as usize);
    let mut flag = |name: &str, kind, ty| slots.push(name, Slot::new(kind, ty));
    let time = flag("time", SlotKind::Time, SlotType::Real);
    let initial = flag("initial()", SlotKind::Flag, SlotType::Boolean);
    let terminal = flag("terminal()", SlotKind::Flag, SlotType::Boolean);
    let assigned_in_when = assigned_in_when(model);
    let mut elements = IdVec::new();
    let mut clocks = Clocks::default();
    for (id, variable) in model.variables.iter() {
        let kind = match &model.active_states {
            Some(active) if active.states.iter().any(|state| state.enters == id) => SlotKind::Flag,
            // What is not there keeps what it was, like a parameter.
            Some(active) if active.absent.contains(&id) => SlotKind::Parameter,
            _ => slot_kind(variable, assigned_in_when.contains(&id)),
        };
        let slots = declare_elements(&mut slots, variable, kind);
        if variable.ty.base == BaseType::Clock {
            clocks.clock_slots.extend(&slots);
        }
        elements.push(slots);
    }
    System {
        dag: Dag::default(),
        slots,
        time,
        initial,
        terminal,
        elements,
        derivative_of: BTreeMap::new(),
        pre_of: BTreeMap::new(),
        starts: BTreeMap::new(),
        equations: Vec::new(),
        initial_equations: Vec::new(),
        exact: BTreeMap::new(),
        state_conditions: Vec::new(),
        entries: Vec::new(),
        parameters: Parameters::default(),
        events: Events::default(),
        checks: Checks::default(),
        history: History::default(),
        calls: Calls::default(),
        clocks,
        state_sets: Vec::new(),
        introduced: Introduced::default(),
        families: Families::default(),
        memo: Memo::default(),
    }
}

fn declare_elements(slots: &mut Slots, variable: &Variable, kind: SlotKind) -> Vec<SlotId> {
    let (ty, kind) = match variable.ty.base {
        // The slot holds the handle.
        BaseType::ExternalObject(_) => (Some(SlotType::Real), SlotKind::Parameter),
        // Stands for everything that is associated with the clock.
        BaseType::Clock => (Some(SlotType::Boolean), SlotKind::Flag),
        base => (slot_type(base), kind),
    };
    let (Some(ty), Some(n)) = (ty, variable.ty.n_elements()) else { return Vec::new() };
    if n > MOST_ELEMENTS {
        return Vec::new();
    }
    let dims: Vec<u64> = variable.ty.dims.iter().filter_map(|d| d.known()).collect();
    let slot = Slot { kind, ty, initial: default_value(ty) };
    if dims.is_empty() {
        return vec![slots.push(&*variable.name, slot)];
    }
    let Some(names) = ElementNames::of_array(&variable.name, dims) else { return Vec::new() };
    let first = slots.push_elements(names, slot).index();
    (first..first + n as usize).map(SlotId::from_usize).collect()
}

/// The value of a variable without a start attribute (section 4.9 of the specification).
pub fn default_value(ty: SlotType) -> f64 {
    if ty == SlotType::Enumeration { 1.0 } else { 0.0 }
}

pub fn slot_type(base: BaseType) -> Option<SlotType> {
    match base {
        BaseType::Real => Some(SlotType::Real),
        BaseType::Integer => Some(SlotType::Integer),
        BaseType::Boolean => Some(SlotType::Boolean),
        BaseType::Enumeration(_) => Some(SlotType::Enumeration),
        _ => None,
    }
}

fn slot_kind(variable: &Variable, assigned_in_when: bool) -> SlotKind {
    match variable.variability {
        Variability::Constant | Variability::Parameter => SlotKind::Parameter,
        // An input that the model itself gives a value is a variable like any other.
        _ if variable.causality == Causality::Input && variable.binding.is_none() => SlotKind::Input,
        Variability::Discrete => SlotKind::Discrete,
        _ if assigned_in_when || variable.ty.base != BaseType::Real => SlotKind::Discrete,
        Variability::Continuous => SlotKind::Algebraic,
    }
}

impl System {
    /// Replaces every expression of the system, and of equations that were taken out of it, in one pass over the graph.
    pub fn replace_expressions<'a>(
        &'a mut self,
        taken_out: impl Iterator<Item = &'a mut ScalarEquation>,
        replace: impl FnOnce(&mut Dag, &[NodeId]) -> Vec<NodeId>,
    ) {
        let mut places: Vec<&mut NodeId> = Vec::new();
        let entries = self.entries.iter_mut().map(|entry| &mut entry.equation);
        for equation in self.equations.iter_mut().chain(&mut self.initial_equations).chain(entries).chain(taken_out) {
            places.push(&mut equation.left);
            places.push(&mut equation.right);
            places.extend(&mut equation.initially);
        }
        places.extend(self.starts.values_mut().map(|start| &mut start.value));
        places.extend(self.calls.stated.iter_mut().flatten());
        places.extend(self.history.rates.values_mut());
        let assignments = self
            .parameters
            .assignments
            .iter_mut()
            .chain(&mut self.events.crossings)
            .chain(&mut self.checks.conditions)
            .chain(&mut self.checks.shown_values);
        places.extend(assignments.map(|Assignment { node, .. }| node));
        let roots: Vec<NodeId> = places.iter().map(|place| **place).collect();
        let new = replace(&mut self.dag, &roots);
        places.into_iter().zip(new).for_each(|(place, node)| *place = node);
    }

    /// The equations as the model has them, before states were linearised.
    pub fn exact_equations(&self) -> Vec<ScalarEquation> {
        let exact = |(k, equation): (usize, &ScalarEquation)| self.exact.get(&k).unwrap_or(equation).clone();
        self.equations.iter().enumerate().map(exact).collect()
    }

    pub fn add_slot(&mut self, name: impl Into<String>, kind: SlotKind, ty: SlotType) -> SlotId {
        self.slots.push(name, Slot::new(self.kind_now(kind), ty))
    }

    /// What becomes of a kind while clocked equations are lowered.
    fn kind_now(&self, kind: SlotKind) -> SlotKind {
        let is_variable = matches!(kind, SlotKind::Algebraic | SlotKind::Discrete | SlotKind::Derivative);
        if self.clocks.is_active && is_variable { SlotKind::Clocked } else { kind }
    }

    pub fn load(&mut self, slot: SlotId) -> NodeId {
        let continuous = self.slots[slot].kind.is_continuous();
        self.dag.load(slot, continuous)
    }

    pub fn callable_name(&self, callable: CallableId) -> &str {
        self.calls.names.get(callable).map_or("?", |name| name)
    }

    pub fn name(&self, slot: SlotId) -> Cow<'_, str> {
        self.slots.name(slot)
    }

    /// The derivative of a continuous variable, which thereby becomes a state.
    pub fn derivative(&mut self, slot: SlotId) -> SlotId {
        if let Some(&derivative) = self.derivative_of.get(&slot) {
            return derivative;
        }
        let name = format!("der({})", self.name(slot));
        let derivative = self.add_slot(name, SlotKind::Derivative, SlotType::Real);
        if self.slots[slot].kind != SlotKind::Clocked {
            self.slots[slot].kind = SlotKind::State;
        }
        self.derivative_of.insert(slot, derivative);
        derivative
    }

    /// The derivative of a top-level input, which the driver sets.
    pub fn input_derivative(&mut self, slot: SlotId) -> SlotId {
        if let Some(&derivative) = self.introduced.input_derivatives.get(&slot) {
            return derivative;
        }
        let name = format!("der({})", self.name(slot));
        let derivative = self.add_slot(name, SlotKind::Input, SlotType::Real);
        self.introduced.input_derivatives.insert(slot, derivative);
        derivative
    }

    /// The slot of `pre(slot)`.
    pub fn pre(&mut self, slot: SlotId) -> SlotId {
        if let Some(&pre) = self.pre_of.get(&slot) {
            return pre;
        }
        let (name, ty) = (format!("pre({})", self.name(slot)), self.slots[slot].ty);
        let pre = self.add_slot(name, SlotKind::Pre, ty);
        self.pre_of.insert(slot, pre);
        pre
    }

    /// A discrete slot that the compiler introduces, with its equation.
    pub fn add_discrete(
        &mut self,
        name: String,
        ty: SlotType,
        value: NodeId,
        initially: Option<NodeId>,
        span: Span,
    ) -> SlotId {
        let slot = self.add_slot(name, SlotKind::Discrete, ty);
        let left = self.load(slot);
        let is_real = ty == SlotType::Real;
        self.equations.push(ScalarEquation {
            left,
            right: value,
            target: Some(slot),
            initially,
            is_real,
            span,
            linearized: None,
        });
        slot
    }

    /// Memory of the relation `left op right`; made once for each relation.
    pub fn relation(&mut self, op: RelationOp, left: NodeId, right: NodeId, text: String, span: Span) -> SlotId {
        let key = (op as u8, left, right);
        if let Some(&slot) = self.introduced.relations.get(&key) {
            return slot;
        }
        let function = relation_function(op);
        let literal = self.dag.binary(function, left, right);
        let memory = self.add_discrete(text.clone(), SlotType::Boolean, literal, None, span);
        self.introduced.relations.insert(key, memory);
        if !self.add_time_event(op, left, right, memory, &text, span) {
            self.add_crossing(op, left, right, memory, text, span);
        }
        memory
    }

    fn add_crossing(&mut self, op: RelationOp, left: NodeId, right: NodeId, memory: SlotId, text: String, span: Span) {
        use saltus_program::{BinaryFn, UnaryFn};
        let number = self.events.relations.len() + 1;
        let crossing = self.add_slot(format!("crossing {number}"), SlotKind::Auxiliary, SlotType::Real);
        let scale = self.add_slot(format!("scale {number}"), SlotKind::Auxiliary, SlotType::Real);
        let z = self.dag.binary(BinaryFn::Sub, left, right);
        let (l, r) = (self.dag.unary(UnaryFn::Abs, left), self.dag.unary(UnaryFn::Abs, right));
        let size = self.dag.binary(BinaryFn::Max, l, r);
        self.events.crossings.push(Assignment { slot: crossing, node: z, span });
        self.events.crossings.push(Assignment { slot: scale, node: size, span });
        self.events.relations.push(Relation { op, memory, crossing, scale, nominal: USUAL, usual: None, text, span });
    }

    /// A relation of time with something discrete needs no root finding.
    fn add_time_event(
        &mut self,
        op: RelationOp,
        left: NodeId,
        right: NodeId,
        memory: SlotId,
        text: &str,
        span: Span,
    ) -> bool {
        let time = self.load(self.time);
        let (other, op) = if left == time && !self.dag.is_continuous(right) {
            (right, op)
        } else if right == time && !self.dag.is_continuous(left) {
            (left, mirrored(op))
        } else {
            return false;
        };
        let number = self.events.time_events.len() + 1;
        let threshold = self.add_discrete(format!("threshold {number}"), SlotType::Real, other, None, span);
        let is_strict = matches!(op, RelationOp::Greater | RelationOp::LessEqual);
        self.events.time_events.push(TimeEvent { threshold, is_strict, memory, text: text.into(), span });
        true
    }
}

/// `a < b` is `b > a`.
fn mirrored(op: RelationOp) -> RelationOp {
    match op {
        RelationOp::Less => RelationOp::Greater,
        RelationOp::LessEqual => RelationOp::GreaterEqual,
        RelationOp::Greater => RelationOp::Less,
        RelationOp::GreaterEqual => RelationOp::LessEqual,
    }
}

pub fn relation_function(op: RelationOp) -> saltus_program::BinaryFn {
    use saltus_program::BinaryFn;
    match op {
        RelationOp::Less => BinaryFn::Less,
        RelationOp::LessEqual => BinaryFn::LessEqual,
        RelationOp::Greater => BinaryFn::Greater,
        RelationOp::GreaterEqual => BinaryFn::GreaterEqual,
    }
}

/// Does the simulation have to find this variable? Those without slots are reported where they are used.
pub fn is_unknown(variable: &Variable) -> bool {
    count::is_unknown(variable) && slot_type(variable.ty.base).is_some()
}

/// All slots for which the event system must have an equation.
pub fn event_unknowns(system: &System) -> Vec<SlotId> {
    let wanted = |slot: &Slot| matches!(slot.kind, SlotKind::Derivative | SlotKind::Algebraic | SlotKind::Discrete);
    system.slots.iter().filter(|(_, slot)| wanted(slot)).map(|(id, _)| id).collect()
}
