//! Writes a procedure as a Cranelift function.
//!
//! ```text
//! 0  mul   [2] := [1] * [1]            v3 = load.f64 frame+8;  v4 = fmul v3, v3;  store v4, frame+16
//! 1  sub   [2] := [2] - [0]       ⇒    v5 = load.f64 frame;    v6 = fsub v4, v5;  store v6, frame+16
//! 2  call  0                           the frame of what is called follows this one
//! ```
//!
//! The function has the signature frame, constants, work left ⇒ status. It does what `saltus_runtime` does with the same
//! instructions, to the last bit. Each value is written to its place in the frame, and is read from there only where it
//! is not known which instruction wrote it.

use std::collections::{HashMap, HashSet};

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{AbiParam, Block, FuncRef, Function, InstBuilder, MemFlags, Value, types};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::JITModule;
use cranelift_module::{FuncId, Module};
use saltus_program::{BinaryFn, UnaryFn};
use saltus_runtime::native::procedure::{At, Binary, Instruction, LARGEST_INTEGER, Op, Procedure, Transfer, Unary};

use crate::arithmetic::{Arithmetic, Elementary, Used, far_reference, signature};
use crate::procedure_helpers::{COPY, Helper};

/// Status of a call that the evaluator cannot complete either.
pub(crate) const FAILURE: u32 = 1;
/// Status of a call of which only the evaluator knows what comes out.
pub(crate) const UNCLEAR: u32 = 2;
/// More scalars than this are copied by a function.
const MOST_WRITTEN_OUT: u32 = 16;

/// Functions outside that procedures call.
pub(crate) struct Imports {
    pub elementary: Elementary,
    /// By helper.
    pub helpers: Vec<FuncId>,
    pub copy: FuncId,
}

/// Do all operands lie in the frame or the table of constants, and all jumps and calls have a target?
pub(crate) fn is_sound(procedure: &Procedure, all: &[Procedure], n_constants: usize) -> bool {
    let limit = |at: At| if at.is_constant() { n_constants } else { procedure.frame as usize };
    let has_room = |at: At, n: u32| at.position() + n as usize <= limit(at);
    let in_frame = |at: At, n: u32| !at.is_constant() && has_room(at, n);
    let transfer = |t: &Transfer, called: &Procedure| has_room(t.here, t.n) && t.there + t.n <= called.frame;
    procedure.code.iter().all(|i| match i.op {
        Op::Add | Op::Sub | Op::Mul | Op::Binary(_) => in_frame(i.to, 1) && has_room(i.a, 1) && has_room(i.b, 1),
        Op::Move | Op::Unary(_) | Op::Subscript => in_frame(i.to, 1) && has_room(i.a, 1),
        Op::Copy => in_frame(i.to, i.n) && has_room(i.a, i.n),
        Op::Load | Op::Store => in_frame(i.to, i.n) && has_room(i.a, i.n) && has_room(i.b, 1),
        Op::Jump | Op::Again => i.n as usize <= procedure.code.len(),
        Op::JumpIf | Op::JumpUnless => i.n as usize <= procedure.code.len() && has_room(i.a, 1),
        Op::Call => procedure.calls.get(i.n as usize).is_some_and(|site| {
            let called = all.get(site.procedure).filter(|p| !p.code.is_empty());
            called.is_some_and(|called| {
                let fits = |t: &Transfer| transfer(t, called);
                site.arguments.iter().all(fits) && site.results.iter().all(|t| fits(t) && !t.here.is_constant())
            })
        }),
        Op::Return | Op::Trouble => true,
    })
}

/// What is known of a place of the frame.
#[derive(Clone, Copy)]
enum Known {
    Float(Value),
    /// 0 or 1, of 8 bits, and the number for it.
    Truth(Value, Value),
}

pub(crate) struct Writer<'f> {
    builder: FunctionBuilder<'f>,
    module: &'f mut JITModule,
    imports: &'f Imports,
    procedure: &'f Procedure,
    all: &'f [Procedure],
    constants: &'f [f64],
    /// By procedure.
    functions: &'f HashMap<usize, FuncId>,
    used: Used,
    helpers: HashMap<FuncId, FuncRef>,
    frame: Value,
    table: Value,
    left: Value,
    /// Blocks that begin at instructions.
    blocks: HashMap<usize, Block>,
    known: HashMap<usize, Known>,
    /// Returns its parameter.
    exit: Block,
}

impl<'f> Writer<'f> {
    pub fn new(
        function: &'f mut Function,
        context: &'f mut FunctionBuilderContext,
        module: &'f mut JITModule,
        imports: &'f Imports,
        (procedure, all): (&'f Procedure, &'f [Procedure]),
        constants: &'f [f64],
        functions: &'f HashMap<usize, FuncId>,
    ) -> Self {
        function.signature = signature(module.isa().default_call_conv());
        let mut builder = FunctionBuilder::new(function, context);
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let [frame, table, left] = [0, 1, 2].map(|i| builder.block_params(entry)[i]);
        let exit = builder.create_block();
        builder.append_block_param(exit, types::I32);
        builder.set_cold_block(exit);
        Writer {
            builder,
            module,
            imports,
            procedure,
            all,
            constants,
            functions,
            used: Used::default(),
            helpers: HashMap::new(),
            frame,
            table,
            left,
            blocks: HashMap::new(),
            known: HashMap::new(),
            exit,
        }
    }

    /// Writes the whole procedure, which must be sound.
    pub fn write(mut self) {
        let code = &self.procedure.code;
        let jumps = |op: Op| matches!(op, Op::Jump | Op::Again | Op::JumpIf | Op::JumpUnless);
        let targets: HashSet<usize> = code.iter().filter(|i| jumps(i.op)).map(|i| i.n as usize).collect();
        for &target in &targets {
            let block = self.builder.create_block();
            self.blocks.insert(target, block);
        }
        let mut is_open = true;
        for (position, i) in code.iter().enumerate() {
            if let Some(&block) = self.blocks.get(&position) {
                if is_open {
                    self.builder.ins().jump(block, &[]);
                }
                self.builder.switch_to_block(block);
                self.known.clear();
                is_open = true;
            }
            // What follows a jump and is not a target is never reached.
            if is_open {
                is_open = self.instruction(position, i);
            }
        }
        if let Some(&end) = self.blocks.get(&code.len()) {
            if is_open {
                self.builder.ins().jump(end, &[]);
            }
            self.builder.switch_to_block(end);
            is_open = true;
        }
        if is_open {
            self.end(0);
        }
        self.builder.switch_to_block(self.exit);
        let status = self.builder.block_params(self.exit)[0];
        self.builder.ins().return_(&[status]);
        self.builder.seal_all_blocks();
        self.builder.finalize();
    }

    /// Does anything follow it immediately?
    fn instruction(&mut self, position: usize, i: &Instruction) -> bool {
        match i.op {
            Op::Add => self.arithmetic_to(i, BinaryFn::Add),
            Op::Sub => self.arithmetic_to(i, BinaryFn::Sub),
            Op::Mul => self.arithmetic_to(i, BinaryFn::Mul),
            Op::Move => {
                let known = self.get_known(i.a);
                self.set_known(i.to.position(), known);
            }
            Op::Copy => self.copy(i.to.position(), i.a, i.n),
            Op::Unary(f) => {
                let x = self.get(i.a);
                let y = self.unary(f, x);
                self.set(i.to, y);
            }
            Op::Binary(f) => self.binary(i, f),
            Op::Subscript => self.subscript(i),
            Op::Load => {
                let room = if i.a.is_constant() { self.constants.len() } else { self.procedure.frame as usize };
                let moved = self.moved(i.b, room - i.a.position() - i.n as usize);
                let base = if i.a.is_constant() { self.table } else { self.frame };
                let from = self.builder.ins().iadd(base, moved);
                self.copy_from(i.to.position(), (from, i.a.position()), i.n);
            }
            Op::Store => {
                let moved = self.moved(i.b, self.procedure.frame as usize - i.to.position() - i.n as usize);
                let to = self.builder.ins().iadd(self.frame, moved);
                self.copy_to((to, i.to.position()), i.a, i.n);
                self.known.clear();
            }
            Op::Jump => {
                self.builder.ins().jump(self.blocks[&(i.n as usize)], &[]);
                return false;
            }
            Op::Again => {
                self.work((position + 1 - (i.n as usize).min(position + 1)) as i64);
                self.builder.ins().jump(self.blocks[&(i.n as usize)], &[]);
                return false;
            }
            Op::JumpIf | Op::JumpUnless => {
                let truth = match self.get_known(i.a) {
                    Known::Truth(truth, _) => truth,
                    Known::Float(x) => self.arithmetic().is_true(x),
                };
                let (target, next) = (self.blocks[&(i.n as usize)], self.builder.create_block());
                let (yes, no) = if i.op == Op::JumpIf { (target, next) } else { (next, target) };
                self.builder.ins().brif(truth, yes, &[], no, &[]);
                self.builder.switch_to_block(next);
            }
            Op::Call => self.call(i.n as usize),
            Op::Return => {
                self.end(0);
                return false;
            }
            Op::Trouble => {
                self.end(if i.n == 0 { UNCLEAR } else { FAILURE });
                return false;
            }
        }
        true
    }

    fn arithmetic(&mut self) -> Arithmetic<'_, 'f> {
        let elementary = &self.imports.elementary;
        Arithmetic { builder: &mut self.builder, module: self.module, elementary, used: &mut self.used }
    }

    fn end(&mut self, status: u32) {
        let status = self.builder.ins().iconst(types::I32, i64::from(status));
        self.builder.ins().return_(&[status]);
    }

    fn exit_if(&mut self, condition: Value, status: u32) {
        let status = self.builder.ins().iconst(types::I32, i64::from(status));
        let next = self.builder.create_block();
        self.builder.ins().brif(condition, self.exit, &[status.into()], next, &[]);
        self.builder.switch_to_block(next);
    }

    fn exit_if_compared(&mut self, condition: FloatCC, x: Value, y: f64, status: u32) {
        let y = self.builder.ins().f64const(y);
        let holds = self.builder.ins().fcmp(condition, x, y);
        self.exit_if(holds, status);
    }

    fn constant(&self, at: At) -> Option<f64> {
        if at.is_constant() { self.constants.get(at.position()).copied() } else { None }
    }

    fn get_known(&mut self, at: At) -> Known {
        if let Some(value) = self.constant(at) {
            return Known::Float(self.builder.ins().f64const(value));
        }
        let position = at.position();
        if let Some(known) = self.known.get(&position) {
            return *known;
        }
        let value = self.builder.ins().load(types::F64, MemFlags::trusted(), self.frame, offset(position));
        self.known.insert(position, Known::Float(value));
        Known::Float(value)
    }

    fn get(&mut self, at: At) -> Value {
        match self.get_known(at) {
            Known::Float(value) | Known::Truth(_, value) => value,
        }
    }

    fn set_known(&mut self, position: usize, known: Known) {
        let (Known::Float(value) | Known::Truth(_, value)) = known;
        self.builder.ins().store(MemFlags::trusted(), value, self.frame, offset(position));
        self.known.insert(position, known);
    }

    fn set(&mut self, to: At, value: Value) {
        self.set_known(to.position(), Known::Float(value));
    }

    fn arithmetic_to(&mut self, i: &Instruction, function: BinaryFn) {
        let (a, b) = (self.get(i.a), self.get(i.b));
        let y = self.arithmetic().binary(function, a, b);
        self.set(i.to, y);
    }

    fn unary(&mut self, f: Unary, x: Value) -> Value {
        match f {
            Unary::Function(UnaryFn::Not) => {
                let is_true = self.arithmetic().is_true(x);
                let is_false = self.builder.ins().bxor_imm(is_true, 1);
                self.arithmetic().number_of(is_false)
            }
            Unary::Function(f) => {
                match f {
                    UnaryFn::Asin | UnaryFn::Acos => {
                        let size = self.builder.ins().fabs(x);
                        self.exit_if_compared(FloatCC::GreaterThan, size, 1.0, FAILURE);
                    }
                    UnaryFn::Log | UnaryFn::Log10 => {
                        self.exit_if_compared(FloatCC::LessThanOrEqual, x, 0.0, FAILURE);
                    }
                    UnaryFn::Sqrt => self.exit_if_compared(FloatCC::LessThan, x, 0.0, FAILURE),
                    _ => {}
                }
                self.arithmetic().unary(f, x)
            }
            Unary::Foreign(f) => {
                let y = self.arithmetic().unary(f, x);
                self.exit_if_undefined(y, &[x])
            }
            Unary::ForeignAcosh => {
                let y = self.helper(Helper::Acosh, &[x]);
                self.exit_if_undefined(y, &[x])
            }
            Unary::ForeignCbrt => {
                let y = self.helper(Helper::Cbrt, &[x]);
                self.exit_if_undefined(y, &[x])
            }
            Unary::NegateInteger => {
                let zero = self.builder.ins().f64const(0.0);
                self.builder.ins().fsub(zero, x)
            }
            Unary::Sign => {
                let is_nan = self.builder.ins().fcmp(FloatCC::Unordered, x, x);
                self.exit_if(is_nan, FAILURE);
                let [zero, one] = [0.0, 1.0].map(|c| self.builder.ins().f64const(c));
                let is_negative = self.builder.ins().fcmp(FloatCC::LessThan, x, zero);
                let minus = self.arithmetic().number_of(is_negative);
                let not_positive = self.builder.ins().fsub(zero, minus);
                let is_positive = self.builder.ins().fcmp(FloatCC::GreaterThan, x, zero);
                self.builder.ins().select(is_positive, one, not_positive)
            }
            Unary::Floor => {
                let y = self.builder.ins().floor(x);
                self.integer(y)
            }
        }
    }

    /// The result of a function of the C library, unless it is undefined for numbers.
    fn exit_if_undefined(&mut self, y: Value, arguments: &[Value]) -> Value {
        let mut undefined = self.builder.ins().fcmp(FloatCC::Unordered, y, y);
        for &x in arguments {
            let is_number = self.builder.ins().fcmp(FloatCC::Ordered, x, x);
            undefined = self.builder.ins().band(undefined, is_number);
        }
        self.exit_if(undefined, FAILURE);
        y
    }

    /// An Integer result, unless it is not exact.
    fn integer(&mut self, y: Value) -> Value {
        let size = self.builder.ins().fabs(y);
        self.exit_if_compared(FloatCC::UnorderedOrGreaterThan, size, LARGEST_INTEGER, UNCLEAR);
        let zero = self.builder.ins().f64const(0.0);
        self.builder.ins().fadd(y, zero)
    }

    fn binary(&mut self, i: &Instruction, f: Binary) {
        let (a, b) = (self.get(i.a), self.get(i.b));
        let value = match f {
            Binary::Function(BinaryFn::Pow) => self.power(a, b, self.constant(i.b)),
            Binary::Function(f @ (BinaryFn::And | BinaryFn::Or)) => {
                let (a, b) = (self.arithmetic().is_true(a), self.arithmetic().is_true(b));
                let ins = self.builder.ins();
                let truth = if f == BinaryFn::And { ins.band(a, b) } else { ins.bor(a, b) };
                return self.set_truth(i.to, truth);
            }
            Binary::Function(f) => {
                if let Some(truth) = self.arithmetic().relation(f, a, b) {
                    return self.set_truth(i.to, truth);
                }
                if matches!(f, BinaryFn::Div | BinaryFn::IntDiv | BinaryFn::Mod | BinaryFn::Rem)
                    && self.constant(i.b).is_none_or(|b| b == 0.0)
                {
                    self.exit_if_compared(FloatCC::Equal, b, 0.0, FAILURE);
                }
                self.arithmetic().binary(f, a, b)
            }
            Binary::AddInteger | Binary::SubInteger | Binary::MulInteger => {
                let ins = self.builder.ins();
                let y = match f {
                    Binary::AddInteger => ins.fadd(a, b),
                    Binary::SubInteger => ins.fsub(a, b),
                    _ => ins.fmul(a, b),
                };
                self.integer(y)
            }
            Binary::DivInteger | Binary::ModInteger | Binary::RemInteger => {
                let is_defined = self.helper(Helper::QuotientIsDefined, &[a, b]);
                self.exit_if_compared(FloatCC::Equal, is_defined, 0.0, FAILURE);
                let helper = match f {
                    Binary::DivInteger => Helper::DivInteger,
                    Binary::ModInteger => Helper::ModInteger,
                    _ => Helper::RemInteger,
                };
                self.helper(helper, &[a, b])
            }
            Binary::ForeignPow => {
                let y = self.arithmetic().binary(BinaryFn::Pow, a, b);
                self.exit_if_undefined(y, &[a, b])
            }
            Binary::ForeignMod => {
                let y = self.helper(Helper::Fmod, &[a, b]);
                self.exit_if_undefined(y, &[a, b])
            }
            Binary::ForeignHypot => self.helper(Helper::Hypot, &[a, b]),
        };
        self.set(i.to, value);
    }

    fn set_truth(&mut self, to: At, truth: Value) {
        let number = self.arithmetic().number_of(truth);
        self.set_known(to.position(), Known::Truth(truth, number));
    }

    /// The exponent is known in nearly all cases, and tells what has to be checked.
    fn power(&mut self, a: Value, b: Value, exponent: Option<f64>) -> Value {
        match exponent {
            Some(2.0) => return self.builder.ins().fmul(a, a),
            Some(exponent) => {
                if exponent.fract() != 0.0 {
                    self.exit_if_compared(FloatCC::LessThan, a, 0.0, FAILURE);
                }
                if exponent < 0.0 {
                    self.exit_if_compared(FloatCC::Equal, a, 0.0, FAILURE);
                }
            }
            None => {
                let is_defined = self.helper(Helper::PowerIsDefined, &[a, b]);
                self.exit_if_compared(FloatCC::Equal, is_defined, 0.0, FAILURE);
                return self.helper(Helper::Power, &[a, b]);
            }
        }
        self.arithmetic().binary(BinaryFn::Pow, a, b)
    }

    fn reference(&mut self, id: FuncId) -> FuncRef {
        let (module, builder) = (&mut *self.module, &mut self.builder);
        *self.helpers.entry(id).or_insert_with(|| far_reference(module, id, builder.func))
    }

    fn helper(&mut self, helper: Helper, arguments: &[Value]) -> Value {
        let callee = self.reference(self.imports.helpers[helper as usize]);
        self.arithmetic().call(callee, arguments)
    }

    fn subscript(&mut self, i: &Instruction) {
        let index = self.get(i.a);
        // Also what is not a number is not an index.
        self.exit_if_compared(FloatCC::UnorderedOrLessThan, index, 1.0, FAILURE);
        self.exit_if_compared(FloatCC::GreaterThan, index, f64::from(i.n), FAILURE);
        let [one, stride] = [1.0, i.b.position() as f64].map(|c| self.builder.ins().f64const(c));
        let before = self.builder.ins().fsub(index, one);
        let value = self.builder.ins().fmul(before, stride);
        self.set(i.to, value);
    }

    /// Bytes by which a place is moved, at most `most` places.
    fn moved(&mut self, by: At, most: usize) -> Value {
        let by = self.get(by);
        let places = self.builder.ins().fcvt_to_uint_sat(types::I64, by);
        let is_outside = self.builder.ins().icmp_imm(IntCC::UnsignedGreaterThan, places, most as i64);
        self.exit_if(is_outside, UNCLEAR);
        self.builder.ins().imul_imm(places, 8)
    }

    /// Takes some of the work that is left.
    fn work(&mut self, amount: i64) {
        let left = self.builder.ins().load(types::I64, MemFlags::trusted(), self.left, 0);
        let is_over = self.builder.ins().icmp_imm(IntCC::UnsignedLessThan, left, amount);
        self.exit_if(is_over, UNCLEAR);
        let rest = self.builder.ins().iadd_imm(left, -amount);
        self.builder.ins().store(MemFlags::trusted(), rest, self.left, 0);
    }

    fn copy(&mut self, to: usize, from: At, n: u32) {
        if n <= MOST_WRITTEN_OUT {
            let values: Vec<Known> = (0..n).map(|k| self.get_known(from.plus(k))).collect();
            for (k, value) in values.into_iter().enumerate() {
                self.set_known(to + k, value);
            }
        } else {
            let base = if from.is_constant() { self.table } else { self.frame };
            self.copy_from(to, (base, from.position()), n);
        }
    }

    /// From elsewhere into the frame.
    fn copy_from(&mut self, to: usize, (base, position): (Value, usize), n: u32) {
        if n <= MOST_WRITTEN_OUT {
            let load =
                |k: u32| self.builder.ins().load(types::F64, MemFlags::trusted(), base, offset(position + k as usize));
            let values: Vec<Value> = (0..n).map(load).collect();
            for (k, value) in values.into_iter().enumerate() {
                self.set_known(to + k, Known::Float(value));
            }
        } else {
            self.copy_many((self.frame, to), (base, position), n);
            self.known.retain(|&place, _| place < to || place >= to + n as usize);
        }
    }

    /// From the frame or the constants to elsewhere.
    fn copy_to(&mut self, (base, position): (Value, usize), from: At, n: u32) {
        if n <= MOST_WRITTEN_OUT {
            let values: Vec<Value> = (0..n).map(|k| self.get(from.plus(k))).collect();
            for (k, value) in values.into_iter().enumerate() {
                self.builder.ins().store(MemFlags::trusted(), value, base, offset(position + k));
            }
        } else {
            let own = if from.is_constant() { self.table } else { self.frame };
            self.copy_many((base, position), (own, from.position()), n);
        }
    }

    fn copy_many(&mut self, to: (Value, usize), from: (Value, usize), n: u32) {
        let callee = self.reference(self.imports.copy);
        let [to, from] = [to, from].map(|(base, place)| self.builder.ins().iadd_imm(base, 8 * place as i64));
        let n = self.builder.ins().iconst(types::I64, i64::from(n));
        self.builder.ins().call(callee, &[to, from, n]);
    }

    fn call(&mut self, number: usize) {
        let site = &self.procedure.calls[number];
        let called = &self.all[site.procedure];
        let next = self.builder.ins().iadd_imm(self.frame, 8 * i64::from(self.procedure.frame));
        for t in &site.arguments {
            self.copy_to((next, t.there as usize), t.here, t.n);
        }
        self.work(called.code.len() as i64);
        let callee = self.reference(self.functions[&site.procedure]);
        let call = self.builder.ins().call(callee, &[next, self.table, self.left]);
        let status = self.builder.inst_results(call)[0];
        let proceed = self.builder.create_block();
        self.builder.ins().brif(status, self.exit, &[status.into()], proceed, &[]);
        self.builder.switch_to_block(proceed);
        for t in &site.results {
            self.copy_from(t.here.position(), (next, t.there as usize), t.n);
        }
    }
}

/// Bytes from the start; the compiler has made sure that they fit.
fn offset(position: usize) -> i32 {
    i32::try_from(position * 8).unwrap_or(i32::MAX)
}

/// Name, parameters and result of the function that copies many scalars.
pub(crate) fn copy_signature() -> (&'static str, Vec<AbiParam>, types::Type) {
    (COPY, vec![AbiParam::new(types::I64); 3], types::I32)
}
