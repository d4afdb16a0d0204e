//! What the time of a run went to, for people and tools: which equations, loops, functions and events, and which state kept steps
//! short.
//!
//! In: [`RunCosts`], which a run measures if [`Options::profile`](crate::pipeline::Options) is set. Out: a [`Profile`], plain data with
//! source spans; [`Profile::listing`] and [`Profile::to_json`] show it:
//!
//! ```text
//! Tank  0.84 s
//!   61 %  512 ms  steps of the integrator, 1 283 (57 % equations, 4 % method)
//! equations and loops
//!   34 %  290 ms  412 000 ×  loop of 12 equations over pump.m_flow, …     Tank.mo:31  m_flow = k*sqrt(dp)
//! events
//!    8 %   70 ms    1 234 ×  h > h_max                                   Tank.mo:40
//! ```
//!
//! Equations that come from one place of the source (the same class many times) are one line; `≈` marks times that were measured of
//! several equations together. Times of equations contain the functions
//! that they call; times of events contain the equations that are evaluated for them.

mod json;
mod text;

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use saltus_base::Span;
use saltus_program::{Activation, Block, BlockCosts, Cost, SimProgram, TangentCosts};
use saltus_sim::{Activity, ActivityCost, CauseCosts, ConditionCosts, RunCosts, StateCosts};

#[derive(Clone, Debug)]
pub struct Profile {
    pub model: String,
    pub total: Duration,
    /// Part of the total that went into making machine code.
    pub machine_code: Duration,
    pub activities: Vec<(Activity, ActivityCost)>,
    /// Equations and loops, the most expensive first.
    pub blocks: Vec<BlockProfile>,
    pub functions: Vec<FunctionProfile>,
    pub events: Vec<CauseCosts>,
    pub conditions: Vec<ConditionCosts>,
    pub states: Vec<StateCosts>,
    pub cut_short: Cost,
    pub failed: Cost,
    /// By variable, and whether at events.
    by_variable: HashMap<(String, bool), Duration>,
}

/// The equations of one place, or a loop.
#[derive(Clone, PartialEq, Debug)]
pub struct BlockProfile {
    pub span: Span,
    /// What it determines.
    pub variables: Vec<String>,
    pub solved: Option<LoopSize>,
    /// Scalar equations that come from this place.
    pub n_equations: usize,
    pub cost: Cost,
    /// The part of its time that was measured together with other equations and shared out by their operations.
    pub estimated: Duration,
    /// Iterations of Newton's method. A solution takes none where the loop starts at it.
    pub iterations: u64,
    /// What it was evaluated for.
    pub parts: Vec<(Use, Duration)>,
}

impl BlockProfile {
    /// Is most of its time an estimate?
    pub fn is_estimated(&self) -> bool {
        self.estimated * 2 > self.cost.time
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LoopSize {
    pub equations: usize,
    /// Iteration variables.
    pub unknowns: usize,
    pub is_linear: bool,
    pub is_mixed: bool,
}

/// What equations are evaluated for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Use {
    Derivatives,
    Jacobian,
    Crossings,
    Events,
    Outputs,
    Start,
}

impl Use {
    pub fn name(self) -> &'static str {
        match self {
            Use::Derivatives => "derivatives",
            Use::Jacobian => "Jacobian",
            Use::Crossings => "crossings",
            Use::Events => "events",
            Use::Outputs => "outputs",
            Use::Start => "start",
        }
    }

    fn of(activation: Activation) -> Use {
        match activation {
            Activation::Derivatives | Activation::Selection => Use::Derivatives,
            Activation::Crossings => Use::Crossings,
            Activation::Outputs => Use::Outputs,
            Activation::Events | Activation::Clocked(_) | Activation::Entry | Activation::Arrival => Use::Events,
            Activation::Parameters | Activation::Guesses | Activation::Initial | Activation::Homotopy => Use::Start,
        }
    }
}

/// Calls of a function that is not written out as equations.
#[derive(Clone, PartialEq, Debug)]
pub struct FunctionProfile {
    pub name: String,
    pub cost: Cost,
    /// Of these calls: how long its derivatives took.
    pub derivatives: Cost,
    /// The equations that call it, the most expensive first.
    pub places: Vec<(Span, Cost)>,
}

impl Profile {
    pub fn new(model: &str, costs: RunCosts, machine_code: Duration) -> Profile {
        let mut blocks = Blocks::default();
        let mut functions = HashMap::new();
        for (program, costs) in &costs.programs {
            for section in &costs.sections {
                let of = blocks_of(program, section.activation);
                for (block, spent) in of.iter().zip(&section.blocks) {
                    blocks.add(program, block, Use::of(section.activation), spent);
                }
            }
            for tangent in &costs.tangents {
                blocks.add_tangent(tangent);
            }
            for call in &costs.calls {
                let callable = program.routines.callables.get(call.callable);
                let procedure = callable.and_then(|c| program.routines.procedures.get(c.function));
                let Some(name) = procedure.map(|p| p.name.clone()) else { continue };
                add_call(&mut functions, name, call);
            }
        }
        let mut functions: Vec<FunctionProfile> = functions.into_values().collect();
        functions.iter_mut().for_each(|f| f.places.sort_by_key(|(span, cost)| rank(cost.time, *span)));
        functions.sort_by(|a, b| b.cost.time.cmp(&a.cost.time).then_with(|| a.name.cmp(&b.name)));
        let total = costs.total();
        let by_variable = std::mem::take(&mut blocks.by_variable);
        Profile {
            model: model.to_owned(),
            total,
            machine_code,
            activities: costs.activities,
            blocks: blocks.sorted(),
            functions,
            events: costs.causes,
            conditions: costs.conditions,
            states: costs.states,
            cut_short: costs.cut_short,
            failed: costs.failed,
            by_variable,
        }
    }

    /// The part of the whole run.
    pub fn share(&self, time: Duration) -> f64 {
        if self.total.is_zero() { 0.0 } else { time.as_secs_f64() / self.total.as_secs_f64() }
    }

    /// What went into the block that determines a variable, between events or at them.
    pub fn of_variable(&self, name: &str, is_event: bool) -> Option<Duration> {
        self.by_variable.get(&(name.to_owned(), is_event)).copied()
    }
}

fn rank(time: Duration, span: Span) -> (std::cmp::Reverse<Duration>, u32) {
    (std::cmp::Reverse(time), span.start)
}

fn add_call(functions: &mut HashMap<String, FunctionProfile>, name: String, call: &saltus_program::CallCosts) {
    let none =
        FunctionProfile { name: name.clone(), cost: Cost::default(), derivatives: Cost::default(), places: vec![] };
    let function = functions.entry(name).or_insert(none);
    function.cost += call.cost;
    if call.is_derivative {
        function.derivatives += call.cost;
    }
    match function.places.iter_mut().find(|(span, _)| *span == call.span) {
        Some((_, cost)) => *cost += call.cost,
        None => function.places.push((call.span, call.cost)),
    }
}

fn blocks_of(program: &SimProgram, activation: Activation) -> &[Block] {
    program.section(activation).map_or(&[], |section| &section.blocks)
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Equation(Span),
    Loop(Span, Vec<String>),
}

#[derive(Default)]
struct Blocks {
    places: HashMap<Key, usize>,
    list: Vec<BlockProfile>,
    /// Of loops, by their place.
    loops: HashMap<Span, usize>,
    by_variable: HashMap<(String, bool), Duration>,
    /// Names of the variables of each place in the list.
    variables: HashMap<usize, HashSet<String>>,
}

impl Blocks {
    fn add(&mut self, program: &SimProgram, block: &Block, part: Use, spent: &BlockCosts) {
        let mut cost = spent.cost;
        if cost.count == 0 {
            return;
        }
        let names = |slots: Vec<saltus_program::SlotId>| -> Vec<String> {
            slots.into_iter().map(|slot| program.memory.slot_name(slot).into_owned()).collect()
        };
        let stored = names(block.stored());
        // Of what is determined once for each element, the part of one.
        let mut of_one = cost.time;
        let (key, solved) = match block {
            Block::Assign(assign) => (Key::Equation(assign.span), None),
            Block::Repeat(repeat) => {
                let n = repeat.n_elements();
                cost.count *= n as u64;
                of_one = cost.time.div_f64(n as f64);
                (Key::Equation(repeat.first.span), None)
            }
            Block::Loop(l) => {
                let unknowns = names(l.unknowns.iter().map(|u| u.slot).collect());
                let size = LoopSize {
                    equations: l.spans.len().max(l.unknowns.len()),
                    unknowns: l.unknowns.len(),
                    is_linear: l.is_linear,
                    is_mixed: l.discrete.is_some(),
                };
                (Key::Loop(block.span(), unknowns), Some(size))
            }
        };
        if part != Use::Start {
            for name in &stored {
                *self.by_variable.entry((name.clone(), part == Use::Events)).or_default() += of_one;
            }
        }
        let at = self.place(key, block.span(), solved);
        // The same equation is part of several sections.
        let names = self.variables.entry(at).or_default();
        let new: Vec<String> = stored.into_iter().filter(|name| names.insert(name.clone())).collect();
        let known = &mut self.list[at];
        known.n_equations += if solved.is_none() { new.len() } else { 0 };
        known.variables.extend(new);
        known.cost += cost;
        known.estimated += spent.estimated;
        known.iterations += spent.iterations;
        add_part(known, part, cost.time);
    }

    fn add_tangent(&mut self, spent: &TangentCosts) {
        let (span, cost) = (spent.span, spent.cost);
        let of_loop = self.loops.get(&span).copied().filter(|_| spent.is_loop);
        let at = of_loop.unwrap_or_else(|| self.place(Key::Equation(span), span, None));
        let known = &mut self.list[at];
        known.cost.time += cost.time;
        known.estimated += spent.estimated;
        add_part(known, Use::Jacobian, cost.time);
    }

    fn place(&mut self, key: Key, span: Span, solved: Option<LoopSize>) -> usize {
        let list = &mut self.list;
        let at = *self.places.entry(key).or_insert_with(|| {
            list.push(BlockProfile {
                span,
                variables: Vec::new(),
                n_equations: solved.map_or(0, |size| size.equations),
                solved,
                cost: Cost::default(),
                estimated: Duration::ZERO,
                iterations: 0,
                parts: Vec::new(),
            });
            list.len() - 1
        });
        if solved.is_some() {
            self.loops.entry(span).or_insert(at);
        }
        at
    }

    fn sorted(self) -> Vec<BlockProfile> {
        let mut list = self.list;
        list.sort_by_key(|block| rank(block.cost.time, block.span));
        list
    }
}

fn add_part(block: &mut BlockProfile, part: Use, time: Duration) {
    match block.parts.iter_mut().find(|(known, _)| *known == part) {
        Some((_, sum)) => *sum += time,
        None => block.parts.push((part, time)),
    }
    block.parts.sort_by_key(|(part, _)| *part);
}
