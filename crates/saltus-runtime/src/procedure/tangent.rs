//! Differentiates procedures: a procedure on a frame that also holds the tangents of all its scalars.
//!
//! ```text
//! mul  [2] := [0] * [1]         mul  [t] := [0] * ∂[1];  mul [u] := ∂[0] * [1];  add ∂[2] := [t] + [u]
//!                               mul  [2] := [0] * [1]
//! frame: 3 scalars              frame: 3 scalars, 3 tangents, temporaries
//! ```
//!
//! In: a procedure of a [`Store`]. Out: the number of its derivative in the same store, made together with those of all that it
//! calls. Jumps are those of the original: the derivative is that of the branch that was taken. Integers and truths have the
//! tangent 0. A slope without value (`sqrt` at 0) is trouble only where its operand changes.

use std::collections::HashMap;

use saltus_program::{BinaryFn, UnaryFn};

use super::code::{At, Binary, CallSite, Instruction, Op, Procedure, Transfer, Unary};
use super::compiler::{Constants, Store};
use crate::tangent::rules::{self, Slope, Writer};

/// Derivatives by number of the procedure.
#[derive(Default)]
pub struct Tangents {
    known: HashMap<usize, usize>,
}

impl Tangents {
    /// The derivative of a procedure; `None` if the procedure was not compiled.
    pub fn of(&mut self, procedure: usize, store: &mut Store) -> Option<usize> {
        store.procedures.get(procedure).filter(|p| !p.code.is_empty())?;
        let mut waiting = Vec::new();
        let first = self.number(procedure, store, &mut waiting);
        while let Some((original, number)) = waiting.pop() {
            let Some(procedure) = store.procedures.get(original).cloned() else { continue };
            let mut callees = Vec::with_capacity(procedure.calls.len());
            for site in &procedure.calls {
                let frame = store.procedures.get(site.procedure).map_or(0, |p| p.frame);
                callees.push((self.number(site.procedure, store, &mut waiting), frame));
            }
            let derivative = Differentiation::new(&procedure, &mut store.constants).run(&callees);
            if let Some(place) = store.procedures.get_mut(number) {
                *place = derivative;
            }
        }
        Some(first)
    }

    fn number(&mut self, procedure: usize, store: &mut Store, waiting: &mut Vec<(usize, usize)>) -> usize {
        *self.known.entry(procedure).or_insert_with(|| {
            let number = store.procedures.len();
            store.procedures.push(Procedure::default());
            waiting.push((procedure, number));
            number
        })
    }
}

struct Differentiation<'p> {
    procedure: &'p Procedure,
    constants: &'p mut Constants,
    code: Vec<Instruction>,
    /// Temporaries of the present instruction, and the most of any.
    temporaries: u32,
    most_temporaries: u32,
    /// Where the code of each instruction begins.
    starts: Vec<u32>,
    /// Jumps to instructions of the original.
    jumps: Vec<usize>,
}

impl<'p> Differentiation<'p> {
    fn new(procedure: &'p Procedure, constants: &'p mut Constants) -> Self {
        Differentiation {
            procedure,
            constants,
            code: Vec::with_capacity(4 * procedure.code.len()),
            temporaries: 0,
            most_temporaries: 0,
            starts: Vec::with_capacity(procedure.code.len()),
            jumps: Vec::new(),
        }
    }

    /// `callees`: for each call the derivative of the called procedure, and the size of its original frame.
    fn run(mut self, callees: &[(usize, u32)]) -> Procedure {
        for instruction in &self.procedure.code {
            self.starts.push(self.code.len() as u32);
            self.temporaries = 0;
            self.instruction(instruction);
        }
        let end = self.code.len() as u32;
        for &jump in &self.jumps {
            if let Some(instruction) = self.code.get_mut(jump) {
                instruction.n = self.starts.get(instruction.n as usize).copied().unwrap_or(end);
            }
        }
        let calls = self.procedure.calls.iter().zip(callees).map(|(site, callee)| self.call(site, *callee));
        let calls = calls.collect();
        Procedure { code: self.code, calls, frame: 2 * self.procedure.frame + self.most_temporaries }
    }

    /// Where the tangent of a scalar of the frame is; constants have none.
    fn tangent(&self, at: At) -> Option<At> {
        (!at.is_constant()).then(|| at.plus(self.procedure.frame))
    }

    fn zeros(&mut self, n: u32) -> At {
        self.constants.add(&vec![0.0; n as usize])
    }

    fn tangent_or_zeros(&mut self, at: At, n: u32) -> At {
        match self.tangent(at) {
            Some(tangent) => tangent,
            None => self.zeros(n),
        }
    }

    fn emit(&mut self, op: Op, to: At, a: At, b: At, n: u32) -> usize {
        self.code.push(Instruction { op, to, a, b, n });
        self.code.len() - 1
    }

    fn set(&mut self, to: At, from: At) {
        self.emit(Op::Move, to, from, At::NOWHERE, 1);
    }

    fn instruction(&mut self, i: &Instruction) {
        let to = self.tangent(i.to);
        match i.op {
            Op::Add | Op::Sub | Op::Mul => {
                let function = match i.op {
                    Op::Add => BinaryFn::Add,
                    Op::Sub => BinaryFn::Sub,
                    _ => BinaryFn::Mul,
                };
                self.binary_rule(i, |w, a, b| rules::binary(w, function, a, b), false);
            }
            Op::Move => {
                let from = self.tangent_or_zeros(i.a, 1);
                to.into_iter().for_each(|to| self.set(to, from));
            }
            Op::Copy => {
                let from = self.tangent_or_zeros(i.a, i.n);
                if let Some(to) = to {
                    self.emit(Op::Copy, to, from, i.b, i.n);
                }
            }
            Op::Load => {
                let to = to.unwrap_or(At::NOWHERE);
                match self.tangent(i.a) {
                    Some(from) => self.emit(Op::Load, to, from, i.b, i.n),
                    None => {
                        let zeros = self.zeros(i.n);
                        self.emit(Op::Copy, to, zeros, At::NOWHERE, i.n)
                    }
                };
            }
            Op::Store => {
                let from = self.tangent_or_zeros(i.a, i.n);
                if let Some(to) = to {
                    self.emit(Op::Store, to, from, i.b, i.n);
                }
            }
            Op::Unary(f) => self.unary_instruction(i, f),
            Op::Binary(f) => self.binary_instruction(i, f),
            Op::Subscript => self.vanish(i),
            Op::Jump | Op::Again | Op::JumpIf | Op::JumpUnless => self.jumps.push(self.code.len()),
            Op::Call | Op::Return | Op::Trouble => {}
        }
        self.code.push(*i);
    }

    /// The result has the tangent 0.
    fn vanish(&mut self, i: &Instruction) {
        let zero = self.zeros(1);
        if let Some(to) = self.tangent(i.to) {
            self.set(to, zero);
        }
    }

    fn unary_instruction(&mut self, i: &Instruction, f: Unary) {
        match f {
            Unary::NegateInteger | Unary::Sign | Unary::Floor => self.vanish(i),
            Unary::Function(f) | Unary::Foreign(f) => {
                self.unary_rule(i, |w, a| rules::unary(w, f, a), !is_smooth_everywhere(f));
            }
            Unary::ForeignAcosh => self.unary_rule(
                i,
                |w, a| {
                    let (square, one) = (w.binary(BinaryFn::Mul, a, a), w.constant(1.0));
                    let less = w.binary(BinaryFn::Sub, square, one);
                    let root = w.unary(UnaryFn::Sqrt, less);
                    Slope::Value(w.binary(BinaryFn::Div, one, root))
                },
                true,
            ),
            Unary::ForeignCbrt => self.unary_rule(
                i,
                |w, a| {
                    let root = w.temporary();
                    w.emit(Op::Unary(Unary::ForeignCbrt), root, a, At::NOWHERE, 1);
                    let (three, one) = (w.constant(3.0), w.constant(1.0));
                    let square = w.binary(BinaryFn::Mul, root, root);
                    let below = w.binary(BinaryFn::Mul, three, square);
                    Slope::Value(w.binary(BinaryFn::Div, one, below))
                },
                true,
            ),
        }
    }

    fn binary_instruction(&mut self, i: &Instruction, f: Binary) {
        match f {
            Binary::Function(BinaryFn::Min) => self.choice(i, (i.b, i.a)),
            Binary::Function(BinaryFn::Max) => self.choice(i, (i.a, i.b)),
            Binary::Function(f) => self.binary_rule(i, |w, a, b| rules::binary(w, f, a, b), f == BinaryFn::Pow),
            Binary::ForeignPow => self.binary_rule(i, |w, a, b| rules::binary(w, BinaryFn::Pow, a, b), true),
            Binary::ForeignMod => self.binary_rule(i, |w, a, b| rules::binary(w, BinaryFn::Rem, a, b), true),
            Binary::ForeignHypot => self.binary_rule(
                i,
                |w, (a, _), (b, _)| {
                    let length = w.temporary();
                    w.emit(Op::Binary(Binary::ForeignHypot), length, a, b, 1);
                    let by = [a, b].map(|x| Slope::Value(w.binary(BinaryFn::Div, x, length)));
                    (by[0], by[1])
                },
                true,
            ),
            Binary::AddInteger
            | Binary::SubInteger
            | Binary::MulInteger
            | Binary::DivInteger
            | Binary::ModInteger
            | Binary::RemInteger => self.vanish(i),
        }
    }

    /// The tangent of the second operand if the first of `order` is less, else that of the first.
    fn choice(&mut self, i: &Instruction, order: (At, At)) {
        let Some(to) = self.tangent(i.to) else { return };
        let (by_a, by_b) = (self.tangent_or_zeros(i.a, 1), self.tangent_or_zeros(i.b, 1));
        let takes_second = self.binary_value(BinaryFn::Less, order.0, order.1);
        let to_first = self.emit(Op::JumpUnless, At::NOWHERE, takes_second, At::NOWHERE, 0);
        self.set(to, by_b);
        let to_end = self.emit(Op::Jump, At::NOWHERE, At::NOWHERE, At::NOWHERE, 0);
        self.land(to_first);
        self.set(to, by_a);
        self.land(to_end);
    }

    /// A jump goes to where the code ends at present.
    fn land(&mut self, jump: usize) {
        let here = self.code.len() as u32;
        if let Some(instruction) = self.code.get_mut(jump) {
            instruction.n = here;
        }
    }

    fn unary_rule(&mut self, i: &Instruction, rule: impl FnOnce(&mut Self, At) -> Slope<At>, has_holes: bool) {
        let Some(to) = self.tangent(i.to) else { return };
        let Some(by) = self.tangent(i.a) else { return self.vanish(i) };
        let result = self.temporary();
        self.term(result, by, has_holes, |w| rule(w, i.a));
        self.set(to, result);
    }

    /// `∂to := ∂f/∂a * ∂a + ∂f/∂b * ∂b`
    fn binary_rule(
        &mut self,
        i: &Instruction,
        rule: impl Fn(&mut Self, rules::Operand<At>, rules::Operand<At>) -> (Slope<At>, Slope<At>),
        has_holes: bool,
    ) {
        let Some(to) = self.tangent(i.to) else { return };
        let first = self.tangent(i.a).map(|by| {
            let term = self.temporary();
            self.term(term, by, has_holes, |w| rule(w, (i.a, true), (i.b, false)).0);
            term
        });
        let second = self.tangent(i.b).map(|by| {
            let term = self.temporary();
            self.term(term, by, has_holes, |w| rule(w, (i.a, false), (i.b, true)).1);
            term
        });
        match (first, second) {
            (Some(a), Some(b)) => {
                self.emit(Op::Add, to, a, b, 1);
            }
            (Some(one), None) | (None, Some(one)) => self.set(to, one),
            (None, None) => self.vanish(i),
        }
    }

    /// `to := slope * by`; where the slope may have no value it is computed only if `by` is not zero.
    fn term(&mut self, to: At, by: At, has_holes: bool, slope: impl FnOnce(&mut Self) -> Slope<At>) {
        let zero = self.zeros(1);
        let skip = has_holes.then(|| {
            self.set(to, zero);
            self.emit(Op::JumpUnless, At::NOWHERE, by, At::NOWHERE, 0)
        });
        match slope(self) {
            Slope::Zero => self.set(to, zero),
            Slope::One => self.set(to, by),
            Slope::MinusOne => {
                self.emit(Op::Sub, to, zero, by, 1);
            }
            Slope::Value(slope) => {
                self.emit(Op::Mul, to, slope, by, 1);
            }
        }
        skip.into_iter().for_each(|skip| self.land(skip));
    }

    fn temporary(&mut self) -> At {
        let at = At::frame(2 * self.procedure.frame + self.temporaries);
        self.temporaries += 1;
        self.most_temporaries = self.most_temporaries.max(self.temporaries);
        at
    }

    fn binary_value(&mut self, function: BinaryFn, a: At, b: At) -> At {
        let to = self.temporary();
        let op = match function {
            BinaryFn::Add => Op::Add,
            BinaryFn::Sub => Op::Sub,
            BinaryFn::Mul => Op::Mul,
            other => Op::Binary(Binary::Function(other)),
        };
        self.emit(op, to, a, b, 1);
        to
    }

    fn call(&mut self, site: &CallSite, (procedure, frame): (usize, u32)) -> CallSite {
        let mut both = |transfers: &[Transfer]| -> Vec<Transfer> {
            let tangents = transfers.iter().map(|t| {
                let here = self.tangent_or_zeros(t.here, t.n);
                Transfer { here, there: t.there + frame, n: t.n }
            });
            let tangents: Vec<Transfer> = tangents.collect();
            transfers.iter().copied().chain(tangents).collect()
        };
        CallSite { procedure, arguments: both(&site.arguments), results: both(&site.results) }
    }
}

impl Writer for Differentiation<'_> {
    type Value = At;

    fn constant(&mut self, value: f64) -> At {
        self.constants.add(&[value])
    }

    fn unary(&mut self, function: UnaryFn, a: At) -> At {
        let to = self.temporary();
        self.emit(Op::Unary(Unary::Function(function)), to, a, At::NOWHERE, 1);
        to
    }

    fn binary(&mut self, function: BinaryFn, a: At, b: At) -> At {
        self.binary_value(function, a, b)
    }
}

/// Has the function a slope wherever it has a value?
fn is_smooth_everywhere(f: UnaryFn) -> bool {
    use UnaryFn::{Acos, Asin, Atanh, Log, Log10, Sqrt};
    !matches!(f, Acos | Asin | Atanh | Log | Log10 | Sqrt)
}
