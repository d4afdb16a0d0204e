//! Writes a run of blocks as a loop, over two blocks at a time where its operations exist for vectors.
//!
//! ```text
//! c := splat [memory + c]                                          what does not move: before the loop
//! at p:  f := c * ([p + x1] - [p + x2]);  [p + f2] := f            p is the memory, later that plus the stride
//!        sum := sum + f                                            NaN if one of the values is not a number
//!        p := p + 2 * stride; again if p < end
//! ```
//!
//! Each value is computed by the operations of its block, so that it has the same bits. All is stored at once: what is
//! wrong shows in the sums, at the end.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, MemFlags, Type, Value, types};
use saltus_base::Index;
use saltus_program::{Assign, BinaryFn, Op, SlotId, UnaryFn, ValueId};

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

/// A loop being written.
struct RunLoop<'l, 'f> {
    lowering: &'l mut Lowering<'f>,
    run: &'l Run,
    /// Blocks at a time.
    lanes: usize,
    /// By stride, except 0: the memory moved on.
    pointers: Vec<(isize, Value)>,
    /// By operation, for what is loaded or constant before the loop or computed in vectors.
    values: Vec<Option<Value>>,
}

/// Writes a run and returns checks, which are NaN if one of its values is not a number or, where it must be, not finite.
pub(crate) fn write_run(
    lowering: &mut Lowering,
    assign: &Assign,
    layout: &Layout,
    run: &Run,
    must_be_finite: &dyn Fn(SlotId) -> bool,
) -> Vec<Value> {
    let lanes = if is_vectorial(assign, layout) { LANES } else { 1 };
    lowering.begin_code(assign.code.ops.len());
    let values = vec![None; assign.code.ops.len()];
    let mut writer = RunLoop { lowering, run, lanes, pointers: Vec::new(), values };
    writer.before(assign, layout);
    let sums = writer.body(assign, layout);
    let finite = |(sum, store): (Value, &(ValueId, SlotId))| {
        if must_be_finite(store.1) { lowering.ins().fsub(sum, sum) } else { sum }
    };
    let checks: Vec<Value> = sums.into_iter().zip(&assign.stores).map(finite).collect();
    if lanes == 1 {
        return checks;
    }
    let lanes = checks.iter().flat_map(|&check| [(check, 0), (check, 1)]);
    lanes.map(|(check, lane)| lowering.ins().extractlane(check, lane)).collect()
}

impl RunLoop<'_, '_> {
    fn number_type(&self) -> Type {
        if self.lanes == 1 { types::F64 } else { types::F64X2 }
    }

    /// One number in all lanes.
    fn spread(&mut self, value: Value) -> Value {
        if self.lanes == 1 { value } else { self.lowering.ins().splat(types::F64X2, value) }
    }

    /// What is the same in all blocks.
    fn before(&mut self, assign: &Assign, layout: &Layout) {
        let mut strides = self.run.strides.iter();
        for (i, op) in assign.code.ops.iter().enumerate() {
            let value = match *op {
                Op::Const(value) if self.lanes > 1 && layout.needed[i] => self.lowering.number(value),
                Op::Load(slot) => match strides.next() {
                    Some(0) if layout.needed[i] => self.lowering.slot_value(slot),
                    _ => continue,
                },
                _ => continue,
            };
            self.values[i] = Some(self.spread(value));
        }
    }

    /// The loop itself; a sum for each store.
    fn body(&mut self, assign: &Assign, layout: &Layout) -> Vec<Value> {
        let mut strides: Vec<isize> = self.run.strides.iter().copied().filter(|s| *s != 0).collect();
        strides.sort_unstable();
        strides.dedup();
        let memory = self.lowering.memory;
        // Every run stores, and never twice to the same slot: there is a stride.
        let bytes = SLOT * strides.first().copied().unwrap_or(0) * self.run.n as isize;
        let end = self.lowering.ins().iadd_imm(memory, bytes as i64);
        let zero = self.lowering.number(0.0);
        let zero = self.spread(zero);

        let number_type = self.number_type();
        let builder = &mut self.lowering.builder;
        let (body, after) = (builder.create_block(), builder.create_block());
        let at_start = strides.iter().map(|_| memory).chain(assign.stores.iter().map(|_| zero));
        let at_start: Vec<BlockArg> = at_start.map(BlockArg::from).collect();
        builder.ins().jump(body, &at_start);
        builder.switch_to_block(body);
        self.pointers = strides.iter().map(|&s| (s, builder.append_block_param(body, types::I64))).collect();
        let sums: Vec<Value> = assign.stores.iter().map(|_| builder.append_block_param(body, number_type)).collect();

        self.operations(assign, layout);
        let sums = self.stores(assign, &sums);
        let mut again = Vec::new();
        for &(stride, pointer) in &self.pointers {
            let step = SLOT * stride * self.lanes as isize;
            again.push(self.lowering.ins().iadd_imm(pointer, step as i64));
        }
        let is_done = match again.first() {
            Some(&pointer) => self.lowering.ins().icmp(IntCC::Equal, pointer, end),
            None => self.lowering.ins().iconst(types::I8, 1),
        };
        let builder = &mut self.lowering.builder;
        let again: Vec<BlockArg> = again.iter().chain(&sums).map(|&value| value.into()).collect();
        builder.ins().brif(is_done, after, &[], body, &again);
        builder.seal_block(body);
        builder.switch_to_block(after);
        builder.seal_block(after);
        sums
    }

    fn operations(&mut self, assign: &Assign, layout: &Layout) {
        let mut strides = self.run.strides.iter();
        for (i, op) in assign.code.ops.iter().enumerate() {
            let stride = if matches!(op, Op::Load(_)) { strides.next().copied() } else { None };
            if !layout.needed[i] {
                continue;
            }
            let value = match (*op, self.values[i], stride) {
                (_, Some(value), _) => value,
                (Op::Load(slot), _, Some(stride)) => self.load(slot, stride),
                (op, ..) if self.lanes > 1 => self.vector(op),
                (op, ..) => {
                    self.lowering.op(i, op);
                    continue;
                }
            };
            match self.lanes {
                1 => self.lowering.set_float(i, value),
                _ => self.values[i] = Some(value),
            }
        }
    }

    fn pointer(&self, stride: isize) -> Value {
        self.pointers.iter().find(|p| p.0 == stride).map_or(self.lowering.memory, |p| p.1)
    }

    fn load(&mut self, slot: SlotId, stride: isize) -> Value {
        let (pointer, first) = (self.pointer(stride), offset(slot.index()));
        if self.lanes > 1 && stride == 1 {
            return self.lowering.ins().load(types::F64X2, vector_flags(), pointer, first);
        }
        let value = self.lowering.ins().load(types::F64, memory_flags(), pointer, first);
        if self.lanes == 1 {
            return value;
        }
        let second = (SLOT * stride) as i32;
        let second = self.lowering.ins().load(types::F64, memory_flags(), pointer, first + second);
        let vector = self.lowering.ins().scalar_to_vector(types::F64X2, value);
        self.lowering.ins().insertlane(vector, second, 1)
    }

    fn vector(&mut self, op: Op) -> Value {
        let of = |id: ValueId| self.values.get(id.0 as usize).copied().flatten();
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

    /// Stores and adds to the sums.
    fn stores(&mut self, assign: &Assign, sums: &[Value]) -> Vec<Value> {
        let strides = self.run.strides[self.run.strides.len() - assign.stores.len()..].to_vec();
        let mut new_sums = Vec::with_capacity(sums.len());
        for ((&(id, slot), stride), &sum) in assign.stores.iter().zip(strides).zip(sums) {
            let value = match self.values.get(id.0 as usize).copied().flatten() {
                Some(value) => value,
                None => self.lowering.float(id),
            };
            self.store(value, slot, stride);
            new_sums.push(self.lowering.ins().fadd(sum, value));
        }
        new_sums
    }

    fn store(&mut self, value: Value, slot: SlotId, stride: isize) {
        let (pointer, first) = (self.pointer(stride), offset(slot.index()));
        if self.lanes == 1 {
            self.lowering.ins().store(memory_flags(), value, pointer, first);
        } else if stride == 1 {
            self.lowering.ins().store(vector_flags(), value, pointer, first);
        } else {
            for lane in 0..LANES as u8 {
                let number = self.lowering.ins().extractlane(value, lane);
                let place = first + i32::from(lane) * (SLOT * stride) as i32;
                self.lowering.ins().store(memory_flags(), number, pointer, place);
            }
        }
    }
}

/// Vectors may begin at any slot.
fn vector_flags() -> MemFlags {
    MemFlags::new().with_notrap().with_alias_region(memory_flags().alias_region())
}
