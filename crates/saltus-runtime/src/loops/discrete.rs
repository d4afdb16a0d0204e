//! The discrete half of a mixed loop: which of its relations depend on the loop's own unknowns, and what the values of these
//! impose on the discrete variables.
//!
//! In: a loop with discrete equations, and its real half. Out: values of both halves that agree, or why there are none.

use saltus_program::{
    Assign, BinaryFn, Loop, MixedSolution, Op, RELATION_BAND, SimProgram, SlotId, SlotKind, SlotType, Status, ValueId,
};

use super::{LoopRecord, NoSolution, Patience, Provisional, Reals, Why};
use crate::machine::Machine;
use crate::mixed::{Concession, MixedSolver, MixedSystem, Relations};

/// Evaluations of discrete equations that refer to each other.
const MOST_DISCRETE_ROUNDS: usize = 20;
const MOST_MIXED_RECORDS: usize = 1_000;

pub(super) struct Discrete {
    relations: Vec<RelationPlace>,
    pub solver: MixedSolver,
    /// Values on entry of all that the loop stores.
    entry: Vec<(SlotId, f64)>,
    /// Does the discrete part load what it stores?
    has_feedback: bool,
    /// Discrete Reals of the loop, with their values before the event: a `when` sets them.
    held: Vec<(SlotId, SlotId)>,
}

/// A relation of the loop's own variables in the discrete code.
#[derive(Clone, Copy, Debug)]
struct RelationPlace {
    position: usize,
    op: BinaryFn,
    left: ValueId,
    right: ValueId,
    /// Value of the right operand if it is a literal.
    constant: Option<f64>,
    /// The usual magnitude of its operands, and where the driver keeps what it has measured.
    nominal: f64,
    usual: Option<SlotId>,
}

fn nominal(place: &RelationPlace, assign: &Assign, program: &SimProgram) -> (f64, Option<SlotId>) {
    let memory = assign.stores.iter().find(|s| s.0.0 as usize == place.position).map(|s| s.1);
    let relation = program.events.relations.values().find(|r| Some(r.memory) == memory);
    relation.map_or((1.0, None), |r| (r.nominal, r.usual))
}

impl Discrete {
    pub fn new(l: &Loop, assign: &Assign, program: &SimProgram) -> Self {
        let own: Vec<SlotId> = l.unknowns.iter().map(|u| u.slot).chain(l.body.stores.iter().map(|s| s.1)).collect();
        let mut relations = find_relations(assign, &own);
        relations.iter_mut().for_each(|place| (place.nominal, place.usual) = nominal(place, assign, program));
        let stored = |slot: &SlotId| assign.stores.iter().any(|s| s.1 == *slot);
        let has_feedback = assign.code.ops.iter().any(|op| matches!(op, Op::Load(slot) if stored(slot)));
        let is_held = |slot: SlotId| {
            let kind = program.memory.slots.get(slot).map(|s| (s.kind, s.ty));
            kind == Some((SlotKind::Discrete, SlotType::Real))
                && (own.contains(&slot) || assign.stores.iter().any(|s| s.1 == slot))
        };
        Discrete {
            held: program.memory.pre.iter().copied().filter(|(slot, _)| is_held(*slot)).collect(),
            solver: MixedSolver::new(relations.len()),
            entry: assign.stores.iter().map(|s| s.1).chain(own).map(|slot| (slot, 0.0)).collect(),
            relations,
            has_feedback,
        }
    }

    pub fn solve(
        &mut self,
        machine: &mut Machine,
        l: &Loop,
        reals: &mut Reals,
        patience: Patience,
        record: &mut LoopRecord,
    ) -> Result<Option<Provisional>, Why> {
        let Some(assign) = &l.discrete else { return Ok(None) };
        for (slot, value) in &mut self.entry {
            *value = machine.get(*slot);
        }
        let mut solver = std::mem::take(&mut self.solver);
        let mut system = Together {
            machine: &mut *machine,
            l,
            reals,
            discrete: self,
            assign,
            patience,
            record: &mut *record,
            real_failure: None,
            status: Status::Ok,
        };
        let concession = if let Patience::Event(concession) = patience { concession } else { Concession::Rounding };
        let outcome = solver.solve(&mut system, concession);
        let (status, real_failure) = (system.status, system.real_failure);
        self.solver = solver;
        // What a `when` sets stays. Its condition must hold with that (Modelica 3.6, appendix B: conditions and variables are solved together).
        let is_set = |(slot, pre): &(SlotId, SlotId)| machine.get(*slot) != machine.get(*pre);
        let outcome = outcome.and_then(|found| match found.is_provisional && self.held.iter().any(is_set) {
            true => Err(found.iterations),
            false => Ok(found),
        });
        match outcome {
            Ok(found) => {
                if found.iterations > 1 && record.mixed.len() < MOST_MIXED_RECORDS {
                    let span = if assign.span.is_nowhere() { l.body.span } else { assign.span };
                    record.mixed.push(MixedSolution { span, strategy: found.strategy, iterations: found.iterations });
                }
                let provisional = found.is_provisional.then_some(Provisional { tried: found.iterations });
                if status.is_ok() { Ok(provisional) } else { Err(Why::Discrete(status)) }
            }
            Err(tried) => {
                for &(slot, value) in &self.entry {
                    machine.set(slot, value);
                }
                match real_failure {
                    Some(why) if tried <= 1 || self.relations.is_empty() => Err(Why::Reals(why)),
                    _ => Err(Why::Mixed { tried }),
                }
            }
        }
    }
}

/// Relations of variables that the loop determines.
fn find_relations(assign: &Assign, own: &[SlotId]) -> Vec<RelationPlace> {
    let ops = &assign.code.ops;
    let mut depends = vec![false; ops.len()];
    let mut relations = Vec::new();
    for (i, op) in ops.iter().enumerate() {
        let is = |v: ValueId| depends.get(v.0 as usize).copied().unwrap_or(false);
        let depending = match *op {
            Op::Const(_) => false,
            Op::Load(slot) => own.contains(&slot),
            Op::Unary(_, a) => is(a),
            Op::Binary(_, a, b) => is(a) || is(b),
            Op::Select(c, a, b) => is(c) || is(a) || is(b),
            Op::Call(k) | Op::Result(k, _) => {
                assign.code.calls.get(k as usize).is_some_and(|call| call.operands().any(is))
            }
        };
        let is_relation =
            |f| matches!(f, BinaryFn::Less | BinaryFn::LessEqual | BinaryFn::Greater | BinaryFn::GreaterEqual);
        match *op {
            Op::Binary(f, left, right) if depending && is_relation(f) => {
                let constant = match ops.get(right.0 as usize) {
                    Some(Op::Const(c)) => Some(*c),
                    _ => None,
                };
                relations.push(RelationPlace { position: i, op: f, left, right, constant, nominal: 1.0, usual: None });
                // Its value is imposed; what follows depends on that alone.
                depends[i] = false;
            }
            _ => depends[i] = depending,
        }
    }
    relations
}

/// A mixed loop as evaluated by the machine.
struct Together<'s> {
    machine: &'s mut Machine,
    l: &'s Loop,
    reals: &'s mut Reals,
    discrete: &'s Discrete,
    assign: &'s Assign,
    patience: Patience,
    record: &'s mut LoopRecord,
    real_failure: Option<NoSolution>,
    /// Of the last evaluation of the discrete part.
    status: Status,
}

impl MixedSystem for Together<'_> {
    fn n_relations(&self) -> usize {
        self.discrete.relations.len()
    }

    fn solve(&mut self) -> bool {
        if self.l.unknowns.is_empty() {
            self.status = self.machine.assign(&self.l.body);
            return self.status.is_ok();
        }
        let solved = self.reals.solve(self.machine, self.l, self.patience, self.record);
        self.real_failure = solved.err();
        solved.is_ok()
    }

    fn relations(&mut self, seen: &mut Relations) {
        let assign = self.assign;
        self.machine.run(&assign.code, assign.span);
        for (i, place) in self.discrete.relations.iter().enumerate() {
            let (left, right) = (self.machine.value(place.left), self.machine.value(place.right));
            seen.values[i] = place.op.apply(left, right) != 0.0;
            seen.z[i] = left - right;
            let usual = place.usual.map_or(place.nominal, |slot| self.machine.get(slot));
            seen.epsilon[i] = RELATION_BAND * left.abs().max(right.abs()).max(usual);
        }
    }

    fn impose(&mut self, values: &[bool]) -> bool {
        let assign = self.assign;
        let mut changed = false;
        for _ in 0..MOST_DISCRETE_ROUNDS {
            let changed_now = self.impose_once(assign, values);
            changed |= changed_now;
            if !changed_now || !self.discrete.has_feedback {
                break;
            }
        }
        changed
    }

    fn is_possible(&self, values: &[bool]) -> bool {
        let relations = &self.discrete.relations;
        relations.iter().all(|place| {
            let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
            for (other, &value) in relations.iter().zip(values) {
                let Some(bound) = other.constant.filter(|_| other.left == place.left) else { continue };
                let is_below = matches!(other.op, BinaryFn::Less | BinaryFn::LessEqual) == value;
                if is_below {
                    high = high.min(bound);
                } else {
                    low = low.max(bound);
                }
            }
            low <= high
        })
    }
}

impl Together<'_> {
    fn impose_once(&mut self, assign: &Assign, values: &[bool]) -> bool {
        self.machine.host.begin(assign.code.calls.len());
        let mut from = 0;
        for (place, &value) in self.discrete.relations.iter().zip(values) {
            self.machine.run_range(&assign.code, from..place.position, assign.span);
            if let Some(slot) = self.machine.values.get_mut(place.position) {
                *slot = f64::from(u8::from(value));
            }
            from = place.position + 1;
        }
        self.machine.run_range(&assign.code, from..assign.code.ops.len(), assign.span);
        let differs =
            |m: &Machine, id, slot| m.value(id).to_bits() != m.get(slot).to_bits() && m.value(id) != m.get(slot);
        let changed = assign.stores.iter().any(|&(id, slot)| differs(self.machine, id, slot));
        self.status = self.machine.store(assign);
        changed
    }
}
