//! Writes blocks that do the same with other slots as loops, over two blocks at a time where their operations exist for vectors.
//!
//! ```text
//! c := splat [memory + c]                                          what does not move: before the loop
//! at p:  f := c * ([p + x1] - [p + x2]);  [p + f2] := f            p is the memory, later that plus the stride
//!        sum := sum + f                                            NaN if one of the values is not a number
//!        p := p + 2 * stride; again if p < end
//! f := c * ([p + x1] - [p + x2]);  [p + f2] := f                   the last one, if their number is odd
//! ```
//!
//! In: a [`Nest`], which is a [`Run`] or a [`Repeat`]; of several dimensions the last one is the loop inside. Out: code whose length does
//! not depend on the number of elements. Each value is computed by the operations of its block, so that it has the same bits. All is
//! stored at once: what is wrong shows in the sums, at the end.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, MemFlags, Value, types};
use saltus_base::Index;
use saltus_program::{Assign, BinaryFn, ElementOrder, Op, Repeat, SlotId, UnaryFn, ValueId};

use crate::layout::Layout;
use crate::lower::{Lowering, memory_flags, offset};
use crate::runs::{LANES, Run};

/// Bytes of a slot.
const SLOT: isize = 8;

/// Processors whose instruction sets have vectors in any case.
const HAS_VECTORS: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// Are there vector instructions for all operations?
fn is_vectorial(assign: &Assign, layout: &Layout) -> bool {
    let mut operations = assign.code.ops.iter().zip(&layout.needed);
    HAS_VECTORS && operations.all(|(op, is_needed)| !is_needed || has_vectors(op))
}

fn has_vectors(op: &Op) -> bool {
    match op {
        Op::Const(_) | Op::Load(_) => true,
        Op::Unary(function, _) => matches!(function, UnaryFn::Negate | UnaryFn::Abs | UnaryFn::Sqrt),
        Op::Binary(function, ..) => matches!(function, BinaryFn::Add | BinaryFn::Sub | BinaryFn::Mul | BinaryFn::Div),
        Op::Select(..) | Op::Call(_) | Op::Result(..) => false,
    }
}

/// Elements in order: the last dimension is the first to move.
pub(crate) struct Nest {
    /// Elements in each dimension, all more than one; none if there is a single element.
    sizes: Vec<usize>,
    /// By slot, loaded ones in the order of the operations and then stored ones: how far it moves on in each dimension.
    strides: Vec<Vec<isize>>,
    /// Does no element need another one of its row?
    has_free_rows: bool,
}

impl From<&Run> for Nest {
    fn from(run: &Run) -> Self {
        let strides = run.strides.iter().map(|&stride| vec![stride]).collect();
        Nest { sizes: vec![run.n], strides, has_free_rows: true }
    }
}

impl Nest {
    /// `None` if the elements must not be computed again, as they are where something is wrong, or if there are not so many slots.
    pub fn of(repeat: &Repeat, n_slots: usize) -> Option<Nest> {
        if !repeat.fits(n_slots) || !repeat.first.code.calls.is_empty() {
            return None;
        }
        let order = repeat.order();
        let is_moving = |d: &usize| repeat.sizes[*d] > 1;
        let of_slot = |strides: &Vec<i32>| (0..strides.len()).filter(is_moving).map(|d| strides[d] as isize).collect();
        (order != ElementOrder::Once).then(|| Nest {
            sizes: repeat.sizes.iter().filter(|n| **n > 1).map(|&n| n as usize).collect(),
            strides: repeat.strides.iter().map(of_slot).collect(),
            has_free_rows: order == ElementOrder::FreeRows,
        })
    }
}

/// Loops being written.
struct NestWriter<'l, 'f> {
    lowering: &'l mut Lowering<'f>,
    nest: &'l Nest,
    assign: &'l Assign,
    layout: &'l Layout,
    /// Elements at a time, but for the last of a row.
    lanes: usize,
    /// Distinct strides of slots that move.
    moves: Vec<&'l [isize]>,
    /// By moves: the memory moved on.
    pointers: Vec<Value>,
    /// By operation, for loads and constants that are the same in a row: one number, and that in all lanes.
    fixed: Vec<Option<(Value, Value)>>,
    /// By operation, in vectors.
    vectors: Vec<Option<Value>>,
}

/// What all elements have stored, added up, for each store: by lanes, and of the last elements of rows.
#[derive(Clone)]
struct Sums {
    lanes: Vec<Value>,
    last: Vec<Value>,
}

impl Sums {
    fn all(&self) -> impl Iterator<Item = &Value> {
        self.lanes.iter().chain(&self.last)
    }
}

/// Writes elements and returns checks, which are NaN if one of their values is not a number or, where it must be, not finite.
pub(crate) fn write_nest(
    lowering: &mut Lowering,
    assign: &Assign,
    layout: &Layout,
    nest: &Nest,
    must_be_finite: &dyn Fn(usize) -> bool,
) -> Vec<Value> {
    let lanes = if nest.has_free_rows && is_vectorial(assign, layout) { LANES } else { 1 };
    let mut moves: Vec<&[isize]> =
        nest.strides.iter().map(|s| &s[..]).filter(|s| s.iter().any(|&stride| stride != 0)).collect();
    moves.sort_unstable();
    moves.dedup();
    let pointers = moves.iter().map(|_| lowering.memory).collect();
    let n_ops = assign.code.ops.len();
    let (fixed, vectors) = (vec![None; n_ops], vec![None; n_ops]);
    let mut writer = NestWriter { lowering, nest, assign, layout, lanes, moves, pointers, fixed, vectors };
    let sums = writer.write();
    let mut checks = Vec::new();
    for (store, &sum) in sums.lanes.iter().enumerate() {
        let sum = if must_be_finite(store) { lowering.ins().fsub(sum, sum) } else { sum };
        match lanes {
            1 => checks.push(sum),
            _ => checks.extend((0..LANES as u8).map(|lane| lowering.ins().extractlane(sum, lane))),
        }
    }
    for (store, &sum) in sums.last.iter().enumerate() {
        checks.push(if must_be_finite(store) { lowering.ins().fsub(sum, sum) } else { sum });
    }
    checks
}

impl NestWriter<'_, '_> {
    fn write(&mut self) -> Sums {
        for (i, op) in self.assign.code.ops.iter().enumerate().filter(|(i, _)| self.layout.needed[*i]) {
            if let (Op::Const(value), true) = (*op, self.lanes > 1) {
                let value = self.lowering.number(value);
                self.fix(i, value);
            }
        }
        self.fix_loads(|strides| strides.iter().all(|&stride| stride == 0));
        let zero = self.lowering.number(0.0);
        let zeros = self.spread(zero);
        let stores = &self.assign.stores;
        let n_in_row = self.nest.sizes.last().copied().unwrap_or(1);
        let has_last = self.lanes > 1 && !n_in_row.is_multiple_of(self.lanes);
        let last = if has_last { stores.iter().map(|_| zero).collect() } else { Vec::new() };
        let sums = Sums { lanes: stores.iter().map(|_| zeros).collect(), last };
        if self.nest.sizes.is_empty() {
            return self.scalar(sums, |sums| if has_last { &mut sums.last } else { &mut sums.lanes });
        }
        self.dimension(0, sums)
    }

    /// One number in all lanes.
    fn spread(&mut self, value: Value) -> Value {
        if self.lanes == 1 { value } else { self.lowering.ins().splat(types::F64X2, value) }
    }

    fn fix(&mut self, i: usize, value: Value) {
        self.fixed[i] = Some((value, self.spread(value)));
    }

    /// Loads what these strides do not move from now on.
    fn fix_loads(&mut self, is_fixed: impl Fn(&[isize]) -> bool) {
        let loads = self.assign.code.ops.iter().enumerate().filter_map(|(i, op)| Some((i, op.loaded()?)));
        for ((i, slot), strides) in loads.zip(&self.nest.strides) {
            if self.layout.needed[i] && self.fixed[i].is_none() && is_fixed(strides) {
                let value = self.load(slot, strides);
                self.fix(i, value);
            }
        }
    }

    /// The loop over a dimension, and inside of it those over the ones behind.
    fn dimension(&mut self, d: usize, sums: Sums) -> Sums {
        if d + 1 == self.nest.sizes.len() {
            return self.row(sums);
        }
        let n = self.lowering.ins().iconst(types::I64, self.nest.sizes[d] as i64);
        let (body, sums) = self.begin(Some(n), &sums, |_| true);
        let left = self.lowering.builder.block_params(body)[0];
        let pointers = self.pointers.clone();
        let sums = self.dimension(d + 1, sums);
        self.pointers = pointers;
        self.advance(d, 1);
        let left = self.lowering.ins().iadd_imm(left, -1);
        let is_done = self.lowering.ins().icmp_imm(IntCC::Equal, left, 0);
        self.end(body, is_done, Some(left), &sums, |_| true);
        sums
    }

    /// The loop over the last dimension.
    fn row(&mut self, mut sums: Sums) -> Sums {
        let d = self.nest.sizes.len() - 1;
        let n = self.nest.sizes[d];
        self.fix_loads(|strides| strides[d] == 0);
        let n_in_loop = n - n % self.lanes;
        if n_in_loop > 0 {
            // Every element stores, and never to the same slot: something moves.
            let first = self.moves.iter().position(|strides| strides[d] != 0).unwrap_or(0);
            let bytes = SLOT * self.moves[first][d] * n_in_loop as isize;
            let end = self.lowering.ins().iadd_imm(self.pointers[first], bytes as i64);
            let body;
            (body, sums) = self.begin(None, &sums, |strides| strides[d] != 0);
            sums = match self.lanes {
                1 => self.scalar(sums, |sums| &mut sums.lanes),
                _ => self.vector_element(sums),
            };
            self.advance(d, self.lanes);
            let is_done = self.lowering.ins().icmp(IntCC::Equal, self.pointers[first], end);
            self.end(body, is_done, None, &sums, |strides| strides[d] != 0);
        }
        if n_in_loop < n { self.scalar(sums, |sums| &mut sums.last) } else { sums }
    }

    /// Begins a loop that counts, moves some of the pointers and adds up.
    fn begin(&mut self, count: Option<Value>, sums: &Sums, is_moved: impl Fn(&[isize]) -> bool) -> (Block, Sums) {
        let builder = &mut self.lowering.builder;
        let body = builder.create_block();
        let moved = self.moves.iter().zip(&mut self.pointers).filter(|(strides, _)| is_moved(strides));
        let moved: Vec<&mut Value> = moved.map(|(_, pointer)| pointer).collect();
        let before = count.iter().chain(moved.iter().map(|pointer| &**pointer)).chain(sums.all());
        let before: Vec<BlockArg> = before.map(|&value| value.into()).collect();
        builder.ins().jump(body, &before);
        builder.switch_to_block(body);
        count.iter().for_each(|_| _ = builder.append_block_param(body, types::I64));
        moved.into_iter().for_each(|pointer| *pointer = builder.append_block_param(body, types::I64));
        let number_type = if self.lanes == 1 { types::F64 } else { types::F64X2 };
        let lanes = sums.lanes.iter().map(|_| builder.append_block_param(body, number_type)).collect();
        let last = sums.last.iter().map(|_| builder.append_block_param(body, types::F64)).collect();
        (body, Sums { lanes, last })
    }

    /// Ends what [`NestWriter::begin`] began.
    fn end(
        &mut self,
        body: Block,
        is_done: Value,
        count: Option<Value>,
        sums: &Sums,
        is_moved: impl Fn(&[isize]) -> bool,
    ) {
        let moved = self.moves.iter().zip(&self.pointers).filter(|(strides, _)| is_moved(strides)).map(|(_, p)| p);
        let again: Vec<BlockArg> = count.iter().chain(moved).chain(sums.all()).map(|&value| value.into()).collect();
        let builder = &mut self.lowering.builder;
        let after = builder.create_block();
        builder.ins().brif(is_done, after, &[], body, &again);
        builder.seal_block(body);
        builder.switch_to_block(after);
        builder.seal_block(after);
    }

    /// Moves the pointers on by so many elements of a dimension.
    fn advance(&mut self, d: usize, n: usize) {
        for (strides, pointer) in self.moves.iter().zip(&mut self.pointers).filter(|(strides, _)| strides[d] != 0) {
            *pointer = self.lowering.ins().iadd_imm(*pointer, (SLOT * strides[d] * n as isize) as i64);
        }
    }

    fn pointer(&self, strides: &[isize]) -> Value {
        self.moves.iter().position(|s| *s == strides).map_or(self.lowering.memory, |i| self.pointers[i])
    }

    /// A single number.
    fn load(&mut self, slot: SlotId, strides: &[isize]) -> Value {
        let pointer = self.pointer(strides);
        self.lowering.ins().load(types::F64, memory_flags(), pointer, offset(slot.index()))
    }

    /// The element at the pointers alone.
    fn scalar(&mut self, mut sums: Sums, of: impl Fn(&mut Sums) -> &mut Vec<Value>) -> Sums {
        self.lowering.begin_code(self.assign.code.ops.len());
        let mut strides = self.nest.strides.iter();
        for (i, op) in self.assign.code.ops.iter().enumerate() {
            let strides = if matches!(op, Op::Load(_)) { strides.next() } else { None };
            if !self.layout.needed[i] {
                continue;
            }
            match (*op, self.fixed[i], strides) {
                (Op::Load(_), Some((value, _)), _) => self.lowering.set_float(i, value),
                (Op::Load(slot), None, Some(strides)) => {
                    let value = self.load(slot, strides);
                    self.lowering.set_float(i, value);
                }
                (op, ..) => self.lowering.op(i, op),
            }
        }
        for ((&(id, slot), strides), sum) in self.assign.stores.iter().zip(strides).zip(of(&mut sums)) {
            let value = self.lowering.float(id);
            let pointer = self.pointer(strides);
            self.lowering.ins().store(memory_flags(), value, pointer, offset(slot.index()));
            *sum = self.lowering.ins().fadd(*sum, value);
        }
        sums
    }

    /// The element at the pointers and the next one of the row.
    fn vector_element(&mut self, mut sums: Sums) -> Sums {
        let mut strides = self.nest.strides.iter();
        for (i, op) in self.assign.code.ops.iter().enumerate() {
            let strides = if matches!(op, Op::Load(_)) { strides.next() } else { None };
            if !self.layout.needed[i] {
                continue;
            }
            self.vectors[i] = Some(match (*op, self.fixed[i], strides) {
                (_, Some((_, value)), _) => value,
                (Op::Load(slot), None, Some(strides)) => self.load_vector(slot, strides),
                (op, ..) => self.vector(op),
            });
        }
        for ((&(id, slot), strides), sum) in self.assign.stores.iter().zip(strides).zip(&mut sums.lanes) {
            if let Some(value) = self.vectors.get(id.0 as usize).copied().flatten() {
                self.store_vector(value, slot, strides);
                *sum = self.lowering.ins().fadd(*sum, value);
            }
        }
        sums
    }

    fn load_vector(&mut self, slot: SlotId, strides: &[isize]) -> Value {
        let (pointer, first) = (self.pointer(strides), offset(slot.index()));
        let stride = strides.last().copied().unwrap_or(0);
        if stride == 1 {
            return self.lowering.ins().load(types::F64X2, vector_flags(), pointer, first);
        }
        let value = self.load(slot, strides);
        let second = (SLOT * stride) as i32;
        let second = self.lowering.ins().load(types::F64, memory_flags(), pointer, first + second);
        let vector = self.lowering.ins().scalar_to_vector(types::F64X2, value);
        self.lowering.ins().insertlane(vector, second, 1)
    }

    fn vector(&mut self, op: Op) -> Value {
        let of = |id: ValueId| self.vectors.get(id.0 as usize).copied().flatten();
        let operands = match op {
            Op::Unary(_, a) => (of(a), of(a)),
            Op::Binary(_, a, b) => (of(a), of(b)),
            _ => (None, None),
        };
        let mut number = |value: Option<Value>| match value {
            Some(value) => value,
            None => {
                let nan = self.lowering.number(f64::NAN);
                self.lowering.ins().splat(types::F64X2, nan)
            }
        };
        let (x, y) = (number(operands.0), number(operands.1));
        match op {
            Op::Unary(function, _) => self.lowering.arithmetic().unary(function, x),
            Op::Binary(function, ..) => self.lowering.arithmetic().binary(function, x, y),
            _ => x,
        }
    }

    fn store_vector(&mut self, value: Value, slot: SlotId, strides: &[isize]) {
        let (pointer, first) = (self.pointer(strides), offset(slot.index()));
        let stride = strides.last().copied().unwrap_or(0);
        if stride == 1 {
            self.lowering.ins().store(vector_flags(), value, pointer, first);
            return;
        }
        for lane in 0..LANES as u8 {
            let number = self.lowering.ins().extractlane(value, lane);
            let place = first + i32::from(lane) * (SLOT * stride) as i32;
            self.lowering.ins().store(memory_flags(), number, pointer, place);
        }
    }
}

/// Vectors may begin at any slot.
fn vector_flags() -> MemFlags {
    MemFlags::new().with_notrap().with_alias_region(memory_flags().alias_region())
}
