//! Writes operations as Cranelift instructions: one function at a time.
//!
//! ```text
//! v0 = load h          v2 = load.f64 memory+8*h
//! v1 = const 0         v3 = f64const 0
//! v2 = v0 < v1    ⇒    v4 = fcmp lt v2, v3            a truth; it becomes a number only where one is needed
//! v3 = select v2 …     v5 = select v4, …
//! ```
//!
//! What the operations are is in [`crate::arithmetic`]. The blocks of a function form a chain, so that every value is at hand in all that follows.

use std::collections::HashMap;

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{AliasRegion, Block, FuncRef, Function, InstBuilder, MemFlags, Value, types};
use cranelift_frontend::{FuncInstBuilder, FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Module};
use saltus_base::Index;
use saltus_program::{BinaryFn, Call, Op, SlotId, UnaryFn, ValueId};

use crate::arithmetic::{Arithmetic, Elementary, Used, signature};
use crate::machine_code::NO_SITE;

/// A slot is read again rather than kept in a register if it has not been used for this many operations.
const KEPT: u32 = 60;

/// Functions outside that machine code calls.
pub(crate) struct Imports {
    pub elementary: Elementary,
    pub make_call: FuncId,
}

/// What is known of a value.
#[derive(Clone, Copy, Default)]
struct Known {
    float: Option<Value>,
    /// 0 or 1, of 8 bits; then the value is 0.0 or 1.0.
    truth: Option<Value>,
    constant: Option<f64>,
}

#[derive(Clone, Copy)]
struct SlotValue {
    used: u32,
    value: Known,
}

/// Storage that serves one function after the other.
pub(crate) struct Storage {
    builder: FunctionBuilderContext,
    slots: SlotValues,
    values: Values,
}

/// What is known of slots in the present function; others cost nothing, however many there are.
struct SlotValues {
    n_slots: usize,
    seen: HashMap<SlotId, SlotValue>,
}

impl SlotValues {
    fn has(&self, slot: SlotId) -> bool {
        slot.index() < self.n_slots
    }

    fn set(&mut self, slot: SlotId, value: SlotValue) {
        if self.has(slot) {
            self.seen.insert(slot, value);
        }
    }
}

/// What is known of the values of the present code; one that is not known costs nothing, however long the code is.
#[derive(Default)]
struct Values {
    by_operation: Vec<Known>,
    /// Operations with something known of them.
    set: Vec<usize>,
}

impl Values {
    fn begin(&mut self, n: usize) {
        for i in self.set.drain(..) {
            self.by_operation[i] = Known::default();
        }
        if self.by_operation.len() < n {
            self.by_operation.resize(n, Known::default());
        }
    }

    fn get(&self, i: usize) -> Option<Known> {
        self.by_operation.get(i).copied()
    }

    fn set(&mut self, i: usize, known: Known) {
        if let Some(place) = self.by_operation.get_mut(i) {
            *place = known;
            self.set.push(i);
        }
    }
}

impl Storage {
    pub fn new(n_slots: usize) -> Self {
        Storage {
            builder: FunctionBuilderContext::new(),
            slots: SlotValues { n_slots, seen: HashMap::new() },
            values: Values::default(),
        }
    }
}

/// A function being written.
pub(crate) struct Lowering<'f> {
    pub builder: FunctionBuilder<'f>,
    module: &'f mut JITModule,
    imports: &'f Imports,
    slots: &'f mut SlotValues,
    values: &'f mut Values,
    /// Operations written.
    clock: u32,
    pub memory: Value,
    scratch: Value,
    context: Value,
    used: Used,
    make_call: Option<FuncRef>,
    /// Returns its parameter.
    exit: Option<Block>,
    stores: Vec<(SlotId, Known)>,
}

impl<'f> Lowering<'f> {
    pub fn new(
        function: &'f mut Function,
        storage: &'f mut Storage,
        module: &'f mut JITModule,
        imports: &'f Imports,
    ) -> Self {
        function.signature = signature(module.isa().default_call_conv());
        storage.slots.seen.clear();
        let mut builder = FunctionBuilder::new(function, &mut storage.builder);
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        builder.seal_block(entry);
        let [memory, scratch, context] = [0, 1, 2].map(|i| builder.block_params(entry)[i]);
        Lowering {
            builder,
            module,
            imports,
            slots: &mut storage.slots,
            values: &mut storage.values,
            clock: 0,
            memory,
            scratch,
            context,
            used: Used::default(),
            make_call: None,
            exit: None,
            stores: Vec::new(),
        }
    }

    /// Before code with `n` operations is written.
    pub fn begin_code(&mut self, n: usize) {
        self.values.begin(n);
    }

    /// Ends the function with status 0.
    pub fn finish(mut self) {
        self.return_constant(0);
        if let Some(exit) = self.exit {
            self.builder.switch_to_block(exit);
            self.builder.seal_block(exit);
            let status = self.builder.block_params(exit)[0];
            self.builder.ins().return_(&[status]);
        }
        self.builder.finalize();
    }

    fn return_constant(&mut self, status: i64) {
        let status = self.builder.ins().iconst(types::I32, status);
        self.builder.ins().return_(&[status]);
    }

    /// Writes operation `i` of the present code. Calls are written by [`Lowering::call`].
    pub fn op(&mut self, i: usize, op: Op) {
        self.clock += 1;
        let known = match op {
            Op::Const(value) => constant(value),
            Op::Load(slot) => self.load(slot),
            Op::Unary(function, a) => self.unary(function, a),
            Op::Binary(function, a, b) => self.binary(function, a, b),
            Op::Select(condition, a, b) => self.select(condition, a, b),
            Op::Call(_) | Op::Result(..) => constant(0.0),
        };
        self.set(i, known);
    }

    fn set(&mut self, i: usize, known: Known) {
        self.values.set(i, known);
    }

    /// Value `i` of the present code.
    pub fn set_float(&mut self, i: usize, value: Value) {
        self.clock += 1;
        self.set(i, float(value));
    }

    pub fn is_known(&self, id: ValueId) -> bool {
        let known = self.known(id);
        known.float.is_some() || known.truth.is_some() || known.constant.is_some()
    }

    fn known(&self, id: ValueId) -> Known {
        self.values.get(id.0 as usize).unwrap_or(constant(f64::NAN))
    }

    pub fn float(&mut self, id: ValueId) -> Value {
        let mut known = self.known(id);
        let value = self.float_of(&mut known);
        self.set(id.0 as usize, known);
        value
    }

    fn float_of(&mut self, known: &mut Known) -> Value {
        let value = match *known {
            Known { float: Some(value), .. } => value,
            Known { truth: Some(truth), .. } => self.arithmetic().number_of(truth),
            Known { constant, .. } => self.number(constant.unwrap_or(f64::NAN)),
        };
        known.float = Some(value);
        value
    }

    pub fn number(&mut self, value: f64) -> Value {
        self.builder.ins().f64const(value)
    }

    pub fn arithmetic(&mut self) -> Arithmetic<'_, 'f> {
        let elementary = &self.imports.elementary;
        Arithmetic { builder: &mut self.builder, module: self.module, elementary, used: &mut self.used }
    }

    pub fn ins(&mut self) -> FuncInstBuilder<'_, 'f> {
        self.builder.ins()
    }

    /// The present value of a slot.
    pub fn slot_value(&mut self, slot: SlotId) -> Value {
        let mut known = self.load(slot);
        self.float_of(&mut known)
    }

    /// Like [`Lowering::store`], for a value that is not an operation.
    pub fn store_value(&mut self, value: Value, slot: SlotId) {
        let known = float(value);
        self.slots.set(slot, SlotValue { used: self.clock, value: known });
        self.stores.push((slot, known));
    }

    /// Drops the pending stores; others to the same slots must follow.
    pub fn forget_pending(&mut self) {
        self.stores.clear();
    }

    /// Returns with `status` unless all conditions hold and all pending values are numbers.
    pub fn exit_unless(&mut self, conditions: &[Value], status: i64) {
        let check = self.pending_check(&|_| false);
        let mut all = check.map(|sum| self.builder.ins().fcmp(FloatCC::Ordered, sum, sum));
        for &condition in conditions {
            all = Some(all.map_or(condition, |before| self.builder.ins().band(before, condition)));
        }
        if let Some(all) = all {
            let reason = self.builder.ins().bxor_imm(all, 1);
            self.exit(reason, status);
        }
    }

    /// Is the value something else than 0?
    fn truth(&mut self, id: ValueId) -> Value {
        if let Some(truth) = self.known(id).truth {
            return truth;
        }
        let value = self.float(id);
        self.arithmetic().is_true(value)
    }

    fn load(&mut self, slot: SlotId) -> Known {
        let clock = self.clock;
        if !self.slots.has(slot) {
            return constant(f64::NAN);
        }
        if let Some(seen) = self.slots.seen.get_mut(&slot) {
            let is_pending = || self.stores.iter().any(|s| s.0 == slot);
            if clock - seen.used <= KEPT || is_pending() {
                seen.used = clock;
                return seen.value;
            }
        }
        let flags = memory_flags();
        let value = self.builder.ins().load(types::F64, flags, self.memory, offset(slot.index()));
        let value = float(value);
        self.slots.set(slot, SlotValue { used: clock, value });
        value
    }

    fn unary(&mut self, function: UnaryFn, a: ValueId) -> Known {
        if function == UnaryFn::Not {
            return self.not(a);
        }
        let x = self.float(a);
        float(self.arithmetic().unary(function, x))
    }

    fn not(&mut self, a: ValueId) -> Known {
        let value = match self.known(a).truth {
            Some(truth) => self.builder.ins().bxor_imm(truth, 1),
            None => {
                let (x, zero) = (self.float(a), self.number(0.0));
                self.builder.ins().fcmp(FloatCC::Equal, x, zero)
            }
        };
        truth(value)
    }

    fn binary(&mut self, function: BinaryFn, a: ValueId, b: ValueId) -> Known {
        match function {
            BinaryFn::And | BinaryFn::Or => {
                let (a, b) = (self.truth(a), self.truth(b));
                let ins = self.builder.ins();
                return truth(if function == BinaryFn::And { ins.band(a, b) } else { ins.bor(a, b) });
            }
            _ => {}
        }
        let (x, y) = (self.float(a), self.float(b));
        if let Some(holds) = self.arithmetic().relation(function, x, y) {
            return truth(holds);
        }
        float(self.arithmetic().binary(function, x, y))
    }

    fn select(&mut self, condition: ValueId, a: ValueId, b: ValueId) -> Known {
        let condition = self.truth(condition);
        if let (Some(a), Some(b)) = (self.known(a).truth, self.known(b).truth) {
            return truth(self.builder.ins().select(condition, a, b));
        }
        let (a, b) = (self.float(a), self.float(b));
        float(self.builder.ins().select(condition, a, b))
    }

    /// Makes the call of a site whose arguments go to `scratch[arguments..]`; returns 0 (of 32 bits) if it failed.
    pub fn call(&mut self, site: u32, call: &Call, first_argument: usize) -> Value {
        for (i, &argument) in call.arguments.iter().enumerate() {
            self.write_scratch(first_argument + i, argument);
        }
        let mut holds = self.builder.ins().iconst(types::I32, 1);
        for condition in &call.conditions {
            let truth = self.truth(condition.value);
            let truth = self.builder.ins().uextend(types::I32, truth);
            let truth = if condition.is { truth } else { self.builder.ins().bxor_imm(truth, 1) };
            holds = self.builder.ins().band(holds, truth);
        }
        self.call_back(site, holds)
    }

    /// 0 (of 32 bits) if a call of this unit has failed.
    pub fn no_call_failed(&mut self) -> Value {
        let unused = self.builder.ins().iconst(types::I32, 0);
        self.call_back(NO_SITE, unused)
    }

    fn call_back(&mut self, site: u32, holds: Value) -> Value {
        let callee = match self.make_call {
            Some(callee) => callee,
            None => self.module.declare_func_in_func(self.imports.make_call, self.builder.func),
        };
        self.make_call = Some(callee);
        let site = self.builder.ins().iconst(types::I32, i64::from(site));
        let call = self.builder.ins().call(callee, &[self.context, site, holds]);
        self.builder.inst_results(call)[0]
    }

    /// Value `i` of the present code is `scratch[position]`.
    pub fn read_scratch(&mut self, i: usize, position: usize) {
        let value = self.builder.ins().load(types::F64, scratch_flags(), self.scratch, offset(position));
        self.set_float(i, value);
    }

    pub fn write_scratch(&mut self, position: usize, id: ValueId) {
        let value = self.float(id);
        self.builder.ins().store(scratch_flags(), value, self.scratch, offset(position));
    }

    /// Adds up `checks`, with what earlier functions of the unit have added up in `scratch[position]` unless this `is_first`.
    pub fn add_checks(&mut self, mut checks: Vec<Value>, position: usize, is_first: bool) -> Value {
        if !is_first {
            checks.push(self.builder.ins().load(types::F64, scratch_flags(), self.scratch, offset(position)));
        }
        let sum = self.sum(checks);
        let sum = sum.unwrap_or_else(|| self.number(0.0));
        self.builder.ins().store(scratch_flags(), sum, self.scratch, offset(position));
        sum
    }

    /// Value that a slot will get with [`Lowering::flush`]; loads see it from now on.
    pub fn store(&mut self, id: ValueId, slot: SlotId) {
        let mut known = self.known(id);
        self.float_of(&mut known);
        self.set(id.0 as usize, known);
        self.slots.set(slot, SlotValue { used: self.clock, value: known });
        self.stores.push((slot, known));
    }

    pub fn n_pending(&self) -> usize {
        self.stores.len()
    }

    /// Writes the pending stores.
    pub fn flush(&mut self) {
        for (slot, known) in std::mem::take(&mut self.stores) {
            // Only slots that exist have a place.
            if let Some(value) = known.float.filter(|_| self.slots.has(slot)) {
                self.builder.ins().store(memory_flags(), value, self.memory, offset(slot.index()));
            }
        }
    }

    /// A pending value that is NaN makes the result NaN, also if `must_be_finite` one that is infinite. Rarely (if
    /// infinities meet in a sum) the result is NaN without need.
    pub fn pending_check(&mut self, must_be_finite: &dyn Fn(SlotId) -> bool) -> Option<Value> {
        let is_suspect = |known: &Known| known.truth.is_none() && known.constant.is_none_or(|c| !c.is_finite());
        let suspects: Vec<(bool, Value)> = self
            .stores
            .iter()
            .filter(|s| is_suspect(&s.1))
            .filter_map(|s| Some((must_be_finite(s.0), s.1.float?)))
            .collect();
        let of = |finite: bool| suspects.iter().filter(|s| s.0 == finite).map(|s| s.1).collect::<Vec<Value>>();
        let numbers = self.sum(of(false));
        let finite = self.sum(of(true)).map(|sum| self.builder.ins().fsub(sum, sum));
        match (numbers, finite) {
            (Some(a), Some(b)) => Some(self.builder.ins().fadd(a, b)),
            (a, b) => a.or(b),
        }
    }

    /// Sum in pairs, so that no addition waits for all others.
    fn sum(&mut self, mut terms: Vec<Value>) -> Option<Value> {
        while terms.len() > 1 {
            let mut sums = Vec::with_capacity(terms.len().div_ceil(2));
            for pair in terms.chunks(2) {
                sums.push(match *pair {
                    [a, b] => self.builder.ins().fadd(a, b),
                    _ => pair[0],
                });
            }
            terms = sums;
        }
        terms.first().copied()
    }

    /// The value minus itself: NaN if it is not finite.
    pub fn finite_check(&mut self, id: ValueId) -> Value {
        let x = self.float(id);
        self.builder.ins().fsub(x, x)
    }

    /// Returns with `status` if the sum of `checks` is NaN or one of `made` (of [`Lowering::call`]) is 0.
    pub fn exit_if(&mut self, checks: Vec<Value>, made: &[Value], status: i64) {
        let mut reason = self.sum(checks).map(|sum| self.builder.ins().fcmp(FloatCC::Unordered, sum, sum));
        if let Some((first, rest)) = made.split_first() {
            let all = rest.iter().fold(*first, |all, one| self.builder.ins().band(all, *one));
            let some_failed = self.builder.ins().icmp_imm(IntCC::Equal, all, 0);
            reason = Some(match reason {
                Some(reason) => self.builder.ins().bor(reason, some_failed),
                None => some_failed,
            });
        }
        if let Some(reason) = reason {
            self.exit(reason, status);
        }
    }

    fn exit(&mut self, reason: Value, status: i64) {
        let exit = match self.exit {
            Some(exit) => exit,
            None => {
                let exit = self.builder.create_block();
                self.builder.append_block_param(exit, types::I32);
                self.builder.set_cold_block(exit);
                exit
            }
        };
        self.exit = Some(exit);
        let next = self.builder.create_block();
        let status = self.builder.ins().iconst(types::I32, status);
        self.builder.ins().brif(reason, exit, &[status.into()], next, &[]);
        self.builder.switch_to_block(next);
        self.builder.seal_block(next);
    }
}

fn float(value: Value) -> Known {
    Known { float: Some(value), ..Known::default() }
}

fn truth(value: Value) -> Known {
    Known { truth: Some(value), ..Known::default() }
}

fn constant(value: f64) -> Known {
    Known { constant: Some(value), ..Known::default() }
}

/// Bytes from the start; the compiler has made sure that they fit ([`crate::JitError::TooLarge`]).
pub(crate) fn offset(position: usize) -> i32 {
    i32::try_from(position * 8).unwrap_or(i32::MAX)
}

pub(crate) fn memory_flags() -> MemFlags {
    MemFlags::trusted().with_alias_region(Some(AliasRegion::Heap))
}

fn scratch_flags() -> MemFlags {
    MemFlags::trusted().with_alias_region(Some(AliasRegion::Table))
}
