//! A sorted system in words: what `saltus explain` shows.
//!
//! In: a [`SortedSystem`]. Out: a [`Description`], plain data with texts and source spans. Equations are written as they are
//! solved, the variable they determine in brackets; the equations of a loop as they stand:
//!
//! ```text
//! [R1.i] = R1.u / R1.R
//! loop over Sw.u, linear:   | [R1.u] = Sw.Va - C.Vb     | 0 = if Sw.open then Sw.i else Sw.u
//! ```

use std::collections::{HashMap, HashSet};

use saltus_base::Span;
use saltus_program::{CallableId, SlotId};
use saltus_symbolic::Names;

use crate::blocks::{LoopStep, Step};
use crate::dag::NodeId;
use crate::initial::Decision;
use crate::sorted::SortedSystem;
use crate::states::Preferences;
use crate::system::{Assignment, System};
use crate::tuning::form::LONGEST_TEXT;

#[derive(Clone, PartialEq, Debug)]
pub struct Description {
    pub sizes: Sizes,
    /// One more than the most times that an equation was differentiated.
    pub index: u32,
    pub states: Vec<StateNote>,
    /// Variables that the model differentiates and that are not states, because equations between states determine them.
    pub dependent: Vec<String>,
    pub aliases: Vec<AliasNote>,
    /// Between events: discrete variables and relations are known.
    pub continuous: Order,
    /// At events: everything together.
    pub events: Order,
    pub initial: Order,
    /// How the initial system came to have as many equations as unknowns.
    pub decisions: Vec<DecisionNote>,
    pub state_events: Vec<EventNote>,
    pub time_events: Vec<EventNote>,
    pub samples: Vec<EventNote>,
}

/// Equations and unknowns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sizes {
    pub scalar: (usize, usize),
    pub without_aliases: (usize, usize),
    pub reduced: (usize, usize),
}

#[derive(Clone, PartialEq, Debug)]
pub struct StateNote {
    pub name: String,
    pub why: String,
}

/// `name = value`
#[derive(Clone, PartialEq, Debug)]
pub struct AliasNote {
    pub name: String,
    pub value: String,
}

/// Blocks in order of computation.
#[derive(Clone, PartialEq, Debug)]
pub struct Order {
    pub unknowns: Vec<String>,
    pub blocks: Vec<BlockNote>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct BlockNote {
    pub kind: BlockKind,
    pub equations: Vec<EquationNote>,
    /// Variables that are iterated over.
    pub torn: Vec<String>,
    /// Of a linear loop over one variable its coefficient.
    pub coefficient: Option<String>,
    /// The iteration variables as assignments, where these were found while compiling.
    pub solution: Vec<String>,
    /// All variables that it gives values.
    pub determines: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockKind {
    Assignment,
    Loop {
        reals: Reals,
        /// Discrete variables are found together with the reals.
        is_mixed: bool,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reals {
    None,
    LinearConstant,
    Linear,
    Nonlinear,
}

#[derive(Clone, PartialEq, Debug)]
pub struct EquationNote {
    pub text: String,
    pub span: Span,
    pub role: Role,
    /// Its unknowns, as positions in the order.
    pub columns: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Gives one variable.
    Solved,
    /// A residual: the iteration variables make it zero.
    Residual,
    /// Gives a discrete variable of a mixed loop.
    Discrete,
    /// Gives the memory of a relation in a mixed loop.
    Relation,
}

#[derive(Clone, PartialEq, Debug)]
pub struct DecisionNote {
    pub text: String,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub struct EventNote {
    pub text: String,
    pub span: Span,
}

impl BlockKind {
    pub fn name(self) -> &'static str {
        match self {
            BlockKind::Assignment => "assignment",
            BlockKind::Loop { reals: Reals::None, .. } => "discrete",
            BlockKind::Loop { reals: Reals::LinearConstant, is_mixed: false } => "linear with constant coefficients",
            BlockKind::Loop { reals: Reals::Linear, is_mixed: false } => "linear",
            BlockKind::Loop { reals: Reals::Nonlinear, is_mixed: false } => "nonlinear",
            BlockKind::Loop { reals: Reals::Nonlinear, is_mixed: true } => "mixed, nonlinear in the reals",
            BlockKind::Loop { is_mixed: true, .. } => "mixed, linear in the reals",
        }
    }
}

impl SortedSystem {
    pub fn describe(&self) -> Description {
        let system = &self.system;
        let [scalar, without_aliases, reduced] = self.sizes;
        let note = |text: &str, span: Span| EventNote { text: text.to_owned(), span };
        Description {
            sizes: Sizes { scalar, without_aliases, reduced },
            index: self.index,
            states: system.derivative_of.keys().map(|&slot| self.state_note(slot)).collect(),
            dependent: self.dependent(),
            aliases: self.alias_notes(),
            continuous: order(system, self.orders.continuous.iter()),
            events: order(system, self.orders.events.iter()),
            initial: order(system, self.initial.guesses.iter().chain(&self.initial.steps)),
            decisions: self.initial.decisions.iter().map(|d| decision_note(system, d)).collect(),
            state_events: system.events.relations.values().map(|r| note(&r.text, r.span)).collect(),
            time_events: system.events.time_events.iter().map(|e| note(&e.text, e.span)).collect(),
            samples: system.events.samples.iter().map(|s| note(&sample_text(system, s), s.span)).collect(),
        }
    }

    fn state_note(&self, slot: SlotId) -> StateNote {
        let wish = match self.preferences.of(slot) {
            Preferences::NEVER => ", though its stateSelect is never",
            Preferences::AVOID => ", though its stateSelect is avoid",
            Preferences::PREFER => " and its stateSelect is prefer",
            Preferences::ALWAYS => " and its stateSelect is always",
            _ => "",
        };
        let name = self.system.name(slot).into_owned();
        let why = if self.differentiated.binary_search(&slot).is_ok() {
            format!("der({name}) occurs{wish}")
        } else {
            format!("chosen when constraints were differentiated{wish}")
        };
        StateNote { name, why }
    }

    fn dependent(&self) -> Vec<String> {
        let is_state = |slot: &SlotId| self.system.derivative_of.contains_key(slot);
        let gone = self.differentiated.iter().filter(|slot| !is_state(slot));
        gone.map(|&slot| self.system.name(slot).into_owned()).collect()
    }

    fn alias_notes(&self) -> Vec<AliasNote> {
        let note = |slot: SlotId| {
            let alias = self.aliases.resolve(slot);
            let sign = if alias.is_negated { "-" } else { "" };
            let value = format!("{sign}{}", self.system.name(alias.slot));
            AliasNote { name: self.system.name(slot).into_owned(), value }
        };
        self.aliases.iter().map(note).collect()
    }
}

fn sample_text(system: &System, sample: &saltus_program::Sample) -> String {
    format!("sample({}, {})", system.name(sample.start), system.name(sample.interval))
}

fn decision_note(system: &System, decision: &Decision) -> DecisionNote {
    let (text, span) = match decision {
        Decision::Fixed { slot, value, span } => {
            (format!("{} starts at {}: fixed", system.name(*slot), text_of(system, *value, None)), *span)
        }
        Decision::Taken { slot, value, is_given, span } => {
            let why = if *is_given { "its start value was taken" } else { "has no start value, the default was taken" };
            (format!("{} starts at {}: {why}", system.name(*slot), text_of(system, *value, None)), *span)
        }
        Decision::Surplus { left, right, span } => {
            let text = equation_text(system, *left, *right, None);
            (format!("{text}: one condition too many, checked at the start"), *span)
        }
    };
    DecisionNote { text, span }
}

/// Names of slots, one of them in brackets.
struct Highlighted<'a> {
    system: &'a System,
    unknown: Option<SlotId>,
}

impl Names for Highlighted<'_> {
    fn slot(&self, slot: SlotId) -> String {
        let name = self.system.name(slot);
        if self.unknown == Some(slot) { format!("[{name}]") } else { name.into_owned() }
    }

    fn function(&self, function: CallableId) -> String {
        self.system.callable_name(function).to_owned()
    }
}

pub(crate) fn text_of(system: &System, node: NodeId, unknown: Option<SlotId>) -> String {
    system.dag.text(node, &Highlighted { system, unknown }, LONGEST_TEXT)
}

/// However long it is.
pub(crate) fn full_text_of(system: &System, node: NodeId) -> String {
    system.dag.text(node, &Highlighted { system, unknown: None }, usize::MAX)
}

pub(crate) fn equation_text(system: &System, left: NodeId, right: NodeId, unknown: Option<SlotId>) -> String {
    format!("{} = {}", text_of(system, left, unknown), text_of(system, right, unknown))
}

/// Positions of the unknowns of one order.
struct Columns {
    of: HashMap<SlotId, usize>,
}

impl Columns {
    fn used(&self, system: &System, own: Option<SlotId>, nodes: &[NodeId]) -> Vec<usize> {
        let slots = system.dag.loads(nodes).into_iter().chain(own);
        let mut columns: Vec<usize> = slots.filter_map(|slot| self.of.get(&slot).copied()).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }
}

fn order<'a>(system: &System, steps: impl Iterator<Item = &'a Step> + Clone) -> Order {
    let mut of = HashMap::new();
    let mut unknowns = Vec::new();
    for slot in steps.clone().flat_map(shown_slots) {
        // A first guess is assigned before the variable is computed.
        of.entry(slot).or_insert_with(|| {
            unknowns.push(system.name(slot).into_owned());
            unknowns.len() - 1
        });
    }
    let columns = Columns { of };
    Order { unknowns, blocks: steps.map(|step| block_note(system, &columns, step)).collect() }
}

/// The variables of a step in the order of its equations, torn ones where the residuals are.
fn shown_slots(step: &Step) -> Vec<SlotId> {
    match step {
        Step::Assign(a) => vec![a.slot],
        Step::Family(family) => family.slots().collect(),
        Step::Loop(l) => {
            let inner = l.equations.iter().filter_map(|e| e.solved);
            inner.chain(l.unknowns.iter().copied()).chain(l.discrete.iter().map(|a| a.slot)).collect()
        }
    }
}

fn block_note(system: &System, columns: &Columns, step: &Step) -> BlockNote {
    match step {
        Step::Assign(a) => {
            let text = format!("[{}] = {}", system.name(a.slot), text_of(system, a.node, None));
            let columns = columns.used(system, Some(a.slot), &[a.node]);
            let equation = EquationNote { text, span: a.span, role: Role::Solved, columns };
            assignment_note(equation, vec![system.name(a.slot).into_owned()])
        }
        Step::Family(family) => {
            let first = system.name(family.target.first);
            let text = format!("[{first}] = {} and so on", text_of(system, family.node, None));
            let equation = EquationNote { text, span: family.span, role: Role::Solved, columns: Vec::new() };
            assignment_note(equation, family.slots().map(|slot| system.name(slot).into_owned()).collect())
        }
        Step::Loop(l) => {
            let determines = shown_slots(step).into_iter().map(|slot| system.name(slot).into_owned()).collect();
            BlockNote { determines, ..loop_note(system, columns, l) }
        }
    }
}

fn assignment_note(equation: EquationNote, determines: Vec<String>) -> BlockNote {
    BlockNote {
        kind: BlockKind::Assignment,
        equations: vec![equation],
        torn: Vec::new(),
        coefficient: None,
        solution: Vec::new(),
        determines,
    }
}

fn loop_note(system: &System, columns: &Columns, l: &LoopStep) -> BlockNote {
    let mut equations: Vec<EquationNote> = l
        .equations
        .iter()
        .map(|e| EquationNote {
            text: equation_text(system, e.left, e.right, e.solved),
            span: e.span,
            role: if e.solved.is_some() { Role::Solved } else { Role::Residual },
            columns: columns.used(system, e.solved, &[e.left, e.right]),
        })
        .collect();
    let memory: HashSet<SlotId> = system.events.relations.values().map(|relation| relation.memory).collect();
    let is_memory = |slot: SlotId| memory.contains(&slot);
    equations.extend(l.discrete.iter().map(|a| EquationNote {
        text: format!("[{}] = {}", system.name(a.slot), text_of(system, a.node, None)),
        span: a.span,
        role: if is_memory(a.slot) { Role::Relation } else { Role::Discrete },
        columns: columns.used(system, Some(a.slot), &[a.node]),
    }));
    let reals = match &l.jacobian {
        _ if l.unknowns.is_empty() => Reals::None,
        Some(jacobian) if jacobian.is_constant => Reals::LinearConstant,
        Some(jacobian) if jacobian.is_linear => Reals::Linear,
        _ => Reals::Nonlinear,
    };
    let coefficient = match &l.jacobian {
        Some(jacobian) if jacobian.is_linear && l.unknowns.len() == 1 => {
            jacobian.entries.first().map(|&(_, _, node)| text_of(system, node, None))
        }
        _ => None,
    };
    let torn = l.unknowns.iter().map(|&slot| system.name(slot).into_owned()).collect();
    let is_mixed = !l.discrete.is_empty() && reals != Reals::None;
    let solved = |a: &Assignment| format!("{} := {}", system.name(a.slot), text_of(system, a.node, None));
    let solution = l.solution.iter().flat_map(|s| &s.values).map(solved).collect();
    BlockNote {
        kind: BlockKind::Loop { reals, is_mixed },
        equations,
        torn,
        coefficient,
        solution,
        determines: Vec::new(),
    }
}
