//! The body of one function while it is compiled: its locals, the frame, the code so far.
//!
//! Instructions write their values to temporaries of the frame, which are free again when all of them have been read. A
//! scalar local whose value is known is remembered until it is assigned again.

use std::collections::BTreeSet;

use saltus_base::Index as _;
use saltus_flat::BaseType;
use saltus_procedure::{self as form, Body as FormBody, Register, assigned};
use saltus_program::BinaryFn;

use super::code::{At, Binary, CallSite, Instruction, Op, Procedure, Unary};
use super::compiler::Compiler;
use super::expressions::is_simple;
use super::layout::{Compiled, Operand, Place, Unsupported, n_elements};

const MOST_INSTRUCTIONS: usize = 100_000;
const MOST_SCALARS: u32 = 1_000_000;

pub struct Body<'c, 'a> {
    pub compiler: &'c mut Compiler<'a>,
    pub function: &'a form::Procedure,
    locals: Vec<LocalState>,
    /// By register: what an instruction has computed.
    results: Vec<Option<Computed>>,
    /// Of those, how many have not been read.
    n_unread: usize,
    /// By local: the constant that it holds at the present position.
    pub known: Vec<Option<At>>,
    pub code: Vec<Instruction>,
    pub calls: Vec<CallSite>,
    /// The next free place of the frame, and the highest so far.
    next: u32,
    most: u32,
    /// By offset: belongs to a local.
    is_local: Vec<bool>,
    /// The last position that is jumped to.
    label: usize,
    /// Jumps out of each loop around, and to the end.
    pub breaks: Vec<Vec<usize>>,
    pub returns: Vec<usize>,
    assigned: BTreeSet<Register>,
}

#[derive(Clone)]
enum LocalState {
    Unset,
    /// Its initial value is being compiled.
    Pending,
    Set(Operand),
}

/// The value of an instruction.
#[derive(Clone)]
struct Computed {
    value: Operand,
    cell: Cell,
    is_read: bool,
}

/// What has been written up to a position, to return to it.
pub struct Mark {
    code: usize,
    calls: usize,
    next: u32,
    n_unread: usize,
    known: Vec<Option<At>>,
}

/// A scalar or an element, and the instruction that may write it elsewhere instead.
#[derive(Clone, Copy)]
pub struct Cell {
    pub at: At,
    made: Option<usize>,
}

impl Cell {
    /// A scalar that stays where it is.
    pub fn fixed(at: At) -> Cell {
        Cell { at, made: None }
    }
}

impl<'c, 'a> Body<'c, 'a> {
    pub fn new(compiler: &'c mut Compiler<'a>, function: &'a form::Procedure) -> Compiled<Self> {
        let FormBody::Statements(block) = &function.body else {
            return Err(Unsupported("an external function"));
        };
        if !function.is_pure() {
            return Err(Unsupported("an impure function"));
        }
        let n = function.locals.len();
        let mut targets: BTreeSet<Register> = function.outputs.iter().copied().collect();
        assigned(block, &mut targets);
        targets.extend(function.locals.iter().filter_map(|l| l.flag));
        Ok(Body {
            compiler,
            function,
            locals: vec![LocalState::Unset; n],
            results: vec![None; function.n_registers as usize],
            n_unread: 0,
            known: vec![None; n],
            code: Vec::new(),
            calls: Vec::new(),
            next: 0,
            most: 0,
            is_local: Vec::new(),
            label: 0,
            breaks: Vec::new(),
            returns: Vec::new(),
            assigned: targets,
        })
    }

    /// Gives the inputs their values, checks declared sizes, and initialises the other locals.
    pub fn set_inputs(&mut self, inputs: &[Operand]) -> Compiled<()> {
        let function = self.function;
        if inputs.len() > function.inputs.len() {
            return Err(Unsupported("too many arguments"));
        }
        for (&local, value) in function.inputs.iter().zip(inputs) {
            let base = function.local(local).map_or(BaseType::Error, |l| l.ty.base);
            let value = match value {
                Operand::Value(place) => Operand::Value(self.converted(place.clone(), base)?),
                function => function.clone(),
            };
            self.set_local(local, value);
        }
        let (first, rest) = function.initial.split_at((function.n_before_check as usize).min(function.initial.len()));
        first.iter().try_for_each(|&local| self.initialise(local))?;
        function.inputs.iter().try_for_each(|&input| self.check_sizes(input))?;
        rest.iter().try_for_each(|&local| self.initialise(local))?;
        let has_value = |local: &&Register| function.local(**local).is_some_and(|l| l.default.is_some());
        rest.iter().filter(has_value).try_for_each(|&local| self.check_sizes(local))
    }

    /// In the order of initial values, in which a declaration comes after those it refers to.
    fn initialise(&mut self, register: Register) -> Compiled<()> {
        let function = self.function;
        let local = function.local(register).ok_or(Unsupported("an unknown local"))?;
        if local.default.is_some() || has_default(local.ty.base) || function.inputs.contains(&register) {
            self.local(register)?;
        }
        Ok(())
    }

    /// An input or an initial value has the sizes of its declaration.
    fn check_sizes(&mut self, register: Register) -> Compiled<()> {
        let Some(local) = self.function.local(register) else { return Ok(()) };
        for (d, dim) in local.ty.dims.iter().enumerate() {
            let expected = match (dim.known(), local.sizes.get(d)) {
                (Some(n), _) => n as i64,
                (None, Some(Some(size))) => self.constant_code(size)?,
                _ => continue,
            };
            if let Operand::Value(place) = self.local(register)?
                && place.dims.get(d).is_some_and(|&found| found as i64 != expected)
            {
                return Err(Unsupported("a value of another size than declared"));
            }
        }
        Ok(())
    }

    /// Places of the outputs, initialised.
    pub fn outputs(&mut self) -> Compiled<Vec<Place>> {
        let function = self.function;
        function.outputs.iter().map(|&output| self.local_place(output)).collect()
    }

    /// Places of their flags.
    pub fn output_flags(&mut self) -> Compiled<Vec<Option<At>>> {
        let function = self.function;
        let flags = function.outputs.iter().map(|&output| function.output_flag(output));
        flags.map(|flag| flag.map(|flag| Ok(self.local_place(flag)?.at)).transpose()).collect()
    }

    /// Compiles the instructions.
    pub fn finish(mut self) -> Compiled<Procedure> {
        let FormBody::Statements(block) = &self.function.body else {
            return Err(Unsupported("an external function"));
        };
        self.block(block)?;
        let end = self.code.len();
        for at in std::mem::take(&mut self.returns) {
            self.patch(at, end);
        }
        self.emit(Op::Return, At::NOWHERE, At::NOWHERE, At::NOWHERE, 0)?;
        Ok(Procedure { code: self.code, calls: self.calls, frame: self.most })
    }

    /// Keeps the value of an instruction, just computed.
    pub fn set_result(&mut self, register: Register, value: Operand) {
        let cell = match &value {
            Operand::Value(place) => self.cell(place.at),
            Operand::Function(..) => Cell::fixed(At::frame(0)),
        };
        if let Some(place) = self.results.get_mut(register.index()) {
            *place = Some(Computed { value, cell, is_read: false });
            self.n_unread += 1;
        }
    }

    /// What an instruction has computed; from now on its place may be used again.
    pub fn result(&mut self, register: Register) -> Compiled<Operand> {
        let result = self.results.get_mut(register.index()).and_then(Option::as_mut);
        let result = result.ok_or(Unsupported("a value that was not computed"))?;
        if !result.is_read {
            result.is_read = true;
            self.n_unread = self.n_unread.saturating_sub(1);
        }
        Ok(result.value.clone())
    }

    /// The instruction that may write an operand elsewhere.
    pub fn cell_of(&self, operand: &form::Operand, place: &Place) -> Cell {
        match operand {
            form::Operand::Temporary(register) => {
                let result = self.results.get(register.index()).and_then(Option::as_ref);
                result.map_or(Cell::fixed(place.at), |r| r.cell)
            }
            _ => Cell::fixed(place.at),
        }
    }

    pub fn n_unread(&self) -> usize {
        self.n_unread
    }

    /// The value of a local, initialised where that has not happened.
    pub fn local(&mut self, id: Register) -> Compiled<Operand> {
        if let Some(Some(at)) = self.known.get(id.index()) {
            let base = self.function.local(id).map_or(BaseType::Error, |l| l.ty.base);
            return Ok(Operand::Value(Place::scalar(*at, base)));
        }
        match self.locals.get_mut(id.index()) {
            Some(LocalState::Set(value)) => return Ok(value.clone()),
            Some(state @ LocalState::Unset) => *state = LocalState::Pending,
            _ => return Err(Unsupported("a cyclic declaration")),
        }
        let value = self.initial_value(id)?;
        self.set_local(id, value.clone());
        Ok(value)
    }

    /// Where a local is stored.
    pub fn local_place(&mut self, id: Register) -> Compiled<Place> {
        self.local(id)?;
        match self.locals.get(id.index()) {
            Some(LocalState::Set(Operand::Value(place))) if !place.at.is_constant() => Ok(place.clone()),
            _ => Err(Unsupported("an assignment to something else than a variable")),
        }
    }

    fn set_local(&mut self, id: Register, value: Operand) {
        if let Some(state) = self.locals.get_mut(id.index()) {
            *state = LocalState::Set(value);
        }
    }

    /// Lets an iteration variable stand for a value.
    pub fn bind(&mut self, id: Register, value: Place) {
        if let Some(known) = self.known.get_mut(id.index()) {
            *known = None;
        }
        self.set_local(id, Operand::Value(value));
    }

    fn initial_value(&mut self, id: Register) -> Compiled<Operand> {
        let function = self.function;
        let local = function.local(id).ok_or(Unsupported("an unknown local"))?;
        let is_assigned = self.assigned.contains(&id);
        let place = match &local.default {
            Some(default) => match self.code(default)? {
                Operand::Value(place) => self.converted(place, local.ty.base)?,
                function => return Ok(function),
            },
            None if function.inputs.contains(&id) => return Err(Unsupported("an input without value")),
            None => self.default_place(id)?,
        };
        if place.at.is_constant() && !is_assigned {
            return Ok(Operand::Value(place));
        }
        let own = self.storage(place.base, &place.dims)?;
        self.copy_place(&own, &place)?;
        if own.is_scalar() && is_simple(own.base) && place.at.is_constant() {
            self.remember(id, Some(place.at));
        }
        Ok(Operand::Value(own))
    }

    fn default_place(&mut self, id: Register) -> Compiled<Place> {
        let local = self.function.local(id).ok_or(Unsupported("an unknown local"))?;
        let mut dims = Vec::with_capacity(local.ty.rank());
        for (d, dim) in local.ty.dims.iter().enumerate() {
            dims.push(match (dim.known(), local.sizes.get(d)) {
                (Some(n), _) => usize::try_from(n).map_err(|_| Unsupported("a large array"))?,
                (None, Some(Some(size))) => {
                    usize::try_from(self.constant_code(size)?).map_err(|_| Unsupported("a negative size"))?
                }
                _ => return Err(Unsupported("a size that comes with the value")),
            });
        }
        let mut scalars = Vec::new();
        self.compiler.layout.size(local.ty.base, &dims)?;
        for _ in 0..n_elements(&dims)? {
            self.compiler.layout.default_scalars(local.ty.base, &mut scalars)?;
        }
        Ok(Place { at: self.compiler.store.constants.add(&scalars), base: local.ty.base, dims })
    }

    /// Room for a local.
    pub fn storage(&mut self, base: BaseType, dims: &[usize]) -> Compiled<Place> {
        let n = self.compiler.layout.size(base, dims)?;
        let at = self.temporary(n)?;
        let range = at.position()..at.position() + n;
        if self.is_local.len() < range.end {
            self.is_local.resize(range.end, false);
        }
        self.is_local.get_mut(range).unwrap_or_default().fill(true);
        Ok(Place { at, base, dims: dims.to_vec() })
    }

    /// Room that is free again after the statement.
    pub fn temporary(&mut self, n: usize) -> Compiled<At> {
        let at = self.next;
        let n = u32::try_from(n).map_err(|_| Unsupported("a large array"))?;
        self.next = at.checked_add(n).filter(|&e| e <= MOST_SCALARS).ok_or(Unsupported("a large frame"))?;
        self.most = self.most.max(self.next);
        Ok(At::frame(at))
    }

    pub fn mark(&self) -> Mark {
        Mark {
            code: self.code.len(),
            calls: self.calls.len(),
            next: self.next,
            n_unread: self.n_unread,
            known: self.known.clone(),
        }
    }

    /// Frees the temporaries since then.
    pub fn free(&mut self, mark: &Mark) {
        self.next = mark.next;
        self.is_local.truncate(mark.next as usize);
    }

    /// Forgets everything that was written since then.
    pub fn undo(&mut self, mark: &Mark) {
        self.code.truncate(mark.code);
        self.calls.truncate(mark.calls);
        self.label = self.label.min(mark.code);
        self.free(mark);
        self.n_unread = mark.n_unread;
        self.known.clone_from(&mark.known);
        self.returns.retain(|&at| at < mark.code);
        self.breaks.iter_mut().for_each(|b| b.retain(|&at| at < mark.code));
    }

    pub fn emit(&mut self, op: Op, to: At, a: At, b: At, n: u32) -> Compiled<usize> {
        if self.code.len() >= MOST_INSTRUCTIONS {
            return Err(Unsupported("a long function"));
        }
        self.code.push(Instruction { op, to, a, b, n });
        Ok(self.code.len() - 1)
    }

    /// A jump whose target is set by [`Body::patch`].
    pub fn jump(&mut self, op: Op, condition: At) -> Compiled<usize> {
        self.emit(op, At::NOWHERE, condition, At::NOWHERE, 0)
    }

    pub fn patch(&mut self, jump: usize, target: usize) {
        self.label = self.label.max(target);
        if let Some(instruction) = self.code.get_mut(jump) {
            instruction.n = target as u32;
        }
    }

    /// Lets jumps end here.
    pub fn patch_here(&mut self, jumps: &[usize]) {
        let here = self.code.len();
        jumps.iter().for_each(|&j| self.patch(j, here));
    }

    /// The present position as the beginning of a loop.
    pub fn label_here(&mut self) -> usize {
        self.label = self.code.len();
        self.label
    }

    pub fn constant(&mut self, x: f64) -> At {
        self.compiler.store.constants.add(&[x])
    }

    pub fn value_of(&self, at: At) -> Option<f64> {
        self.compiler.store.constants.get(at)
    }

    pub fn unary(&mut self, f: Unary, a: At) -> Compiled<At> {
        if let Some(y) = self.value_of(a).and_then(|x| f.apply(x)) {
            return Ok(self.constant(y));
        }
        let to = self.temporary(1)?;
        self.emit(Op::Unary(f), to, a, At::NOWHERE, 0)?;
        Ok(to)
    }

    pub fn binary(&mut self, f: Binary, a: At, b: At) -> Compiled<At> {
        if let (Some(x), Some(y)) = (self.value_of(a), self.value_of(b))
            && let Some(z) = f.apply(x, y)
        {
            return Ok(self.constant(z));
        }
        let op = match f {
            Binary::Function(BinaryFn::Add) => Op::Add,
            Binary::Function(BinaryFn::Sub) => Op::Sub,
            Binary::Function(BinaryFn::Mul) => Op::Mul,
            f => Op::Binary(f),
        };
        let to = self.temporary(1)?;
        self.emit(op, to, a, b, 0)?;
        Ok(to)
    }

    /// The value just computed, as something that may be written elsewhere.
    pub fn cell(&self, at: At) -> Cell {
        let last = self.code.len().checked_sub(1);
        let made = last.filter(|&i| {
            let is_local = self.is_local.get(at.position()).copied().unwrap_or(false);
            let writes =
                self.code.get(i).is_some_and(|c| c.to == at && !matches!(c.op, Op::Copy | Op::Load | Op::Store));
            writes && !at.is_constant() && !is_local && self.label <= i
        });
        Cell { at, made }
    }

    /// `n` scalars from one place to another.
    pub fn copy(&mut self, to: At, from: Cell, n: usize) -> Compiled<()> {
        if n == 0 || to == from.at {
            return Ok(());
        }
        if n == 1
            && let Some(instruction) = from.made.and_then(|i| self.code.get_mut(i))
        {
            instruction.to = to;
            return Ok(());
        }
        let (op, n) = if n == 1 { (Op::Move, 0) } else { (Op::Copy, n as u32) };
        self.emit(op, to, from.at, At::NOWHERE, n)?;
        Ok(())
    }

    /// A whole value, just computed.
    pub fn copy_place(&mut self, to: &Place, from: &Place) -> Compiled<()> {
        let n = self.compiler.layout.size(to.base, &to.dims)?;
        let cell = self.cell(from.at);
        self.copy(to.at, cell, n)
    }

    /// What a scalar local holds from now on, if that is constant.
    pub fn remember(&mut self, id: Register, value: Option<At>) {
        if let Some(known) = self.known.get_mut(id.index()) {
            *known = value;
        }
    }

    /// Locals that these instructions assign may hold anything.
    pub fn forget(&mut self, block: &[form::Step]) {
        let mut targets = BTreeSet::new();
        assigned(block, &mut targets);
        for local in targets {
            if let Some(known) = self.known.get_mut(local.index()) {
                *known = None;
            }
        }
    }
}

fn has_default(base: BaseType) -> bool {
    matches!(
        base,
        BaseType::Real
            | BaseType::Integer
            | BaseType::Boolean
            | BaseType::String
            | BaseType::Enumeration(_)
            | BaseType::Record(_)
    )
}
