//! Linear loops of one or two unknowns in line, without the solver.
//!
//! ```text
//! loop {i}: u = R*i + v; v = L*der(i)      r0 := residual(i);  a := ∂r/∂i
//!                                          i := i - r0/a;      r1 := residual(i), which must be small
//! ```
//!
//! In: a [`Loop`] that is [`is_small`]. Out: instructions that do what the solver of the interpreter does in its usual case, to
//! the last bit. In any other case (singular, not small enough, not a number) the chunk ends before the loop, and the
//! interpreter solves it.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, MemFlags, Value, types};
use saltus_program::{Jacobian, Loop};
use saltus_runtime::linear::{NEARLY_SINGULAR, SMALL_RESIDUAL, usable_nominal};

use crate::layout::Layout;
use crate::lower::Lowering;
use crate::section::write;

/// The body is written twice.
const MOST_OPERATIONS: usize = 400;

/// Where the code of a small loop puts its values.
pub(crate) struct SmallLayout {
    pub body: Layout,
    pub jacobian: Layout,
}

/// The Jacobian of a loop that is solved in line.
pub(crate) fn is_small(l: &Loop) -> Option<&Jacobian> {
    let jacobian = l.jacobian.as_ref()?;
    let n = l.unknowns.len();
    let has_calls = !l.body.code.calls.is_empty() || !jacobian.code.calls.is_empty();
    let is_solved_once = l.is_linear && l.discrete.is_none() && !has_calls;
    let is_small = (n == 1 || n == 2) && l.residuals.len() == n && n_operations(l) <= MOST_OPERATIONS;
    (is_solved_once && is_small).then_some(jacobian)
}

/// Operations that are written.
pub(crate) fn n_operations(l: &Loop) -> usize {
    2 * l.body.code.ops.len() + l.jacobian.as_ref().map_or(0, |j| j.code.ops.len())
}

/// Writes block `number`, which is a small loop; nothing may be pending.
pub(crate) fn write_loop(lowering: &mut Lowering, l: &Loop, jacobian: &Jacobian, layout: &SmallLayout, number: usize) {
    let before: Vec<Value> = l.unknowns.iter().map(|u| lowering.slot_value(u.slot)).collect();
    let residuals = write_body(lowering, l, &layout.body);
    let matrix = write_jacobian(lowering, jacobian, l.unknowns.len(), &layout.jacobian);
    lowering.forget_pending();
    let (steps, mut conditions) = step(lowering, &matrix, &residuals);
    let mut scales = Vec::new();
    for ((unknown, before), step) in l.unknowns.iter().zip(before).zip(steps) {
        let after = lowering.ins().fadd(before, step);
        lowering.store_value(after, unknown.slot);
        let magnitude = lowering.ins().fabs(after);
        let least = lowering.number(usable_nominal(unknown.nominal).max(f64::MIN_POSITIVE));
        let is_larger = lowering.ins().fcmp(FloatCC::GreaterThan, magnitude, least);
        scales.push(lowering.ins().select(is_larger, magnitude, least));
    }
    let residuals = write_body(lowering, l, &layout.body);
    let small = lowering.number(SMALL_RESIDUAL);
    for (residual, row) in residuals.iter().zip(matrix.chunks(scales.len())) {
        let mut size = None;
        for (&entry, &scale) in row.iter().zip(&scales) {
            let magnitude = lowering.ins().fabs(entry);
            let term = lowering.ins().fmul(magnitude, scale);
            size = Some(size.map_or(term, |sum| lowering.ins().fadd(sum, term)));
        }
        let magnitude = lowering.ins().fabs(*residual);
        let relative = size.map_or(magnitude, |size| lowering.ins().fdiv(magnitude, size));
        conditions.push(lowering.ins().fcmp(FloatCC::LessThanOrEqual, relative, small));
    }
    lowering.exit_unless(&conditions, number as i64 + 1);
    lowering.flush();
}

/// The residuals; what the body stores is pending.
fn write_body(lowering: &mut Lowering, l: &Loop, layout: &Layout) -> Vec<Value> {
    lowering.begin_code(l.body.code.ops.len());
    write(lowering, &l.body.code, layout, 0, 0, &mut Vec::new());
    let residuals = l.residuals.iter().map(|&r| lowering.float(r)).collect();
    for &(id, slot) in &l.body.stores {
        lowering.store(id, slot);
    }
    residuals
}

/// The matrix, row by row.
fn write_jacobian(lowering: &mut Lowering, jacobian: &Jacobian, n: usize, layout: &Layout) -> Vec<Value> {
    lowering.begin_code(jacobian.code.ops.len());
    write(lowering, &jacobian.code, layout, 0, 0, &mut Vec::new());
    let zero = lowering.number(0.0);
    let mut matrix = vec![zero; n * n];
    for &(row, column, id) in &jacobian.entries {
        let value = lowering.float(id);
        if let Some(place) = matrix.get_mut(row as usize * n + column as usize) {
            *place = lowering.ins().fadd(*place, value);
        }
    }
    matrix
}

/// The Newton step, and the conditions under which it is one.
fn step(lowering: &mut Lowering, matrix: &[Value], residuals: &[Value]) -> (Vec<Value>, Vec<Value>) {
    match (matrix, residuals) {
        (&[a], &[r]) => {
            let negative = lowering.ins().fneg(r);
            let x = lowering.ins().fdiv(negative, a);
            (vec![x], is_normal(lowering, a).to_vec())
        }
        (&[a, b, c, d], &[r, s]) => {
            let [size_a, size_c] = [(a, b), (c, d)].map(|(first, other)| measured(lowering, first, other));
            let is_exchanged = lowering.ins().fcmp(FloatCC::GreaterThan, size_c, size_a);
            let [a, c, b, d, r, s] = [(c, a), (a, c), (d, b), (b, d), (s, r), (r, s)]
                .map(|(exchanged, not)| lowering.ins().select(is_exchanged, exchanged, not));
            let factor = lowering.ins().fdiv(c, a);
            let product = lowering.ins().fmul(factor, b);
            let pivot = lowering.ins().fsub(d, product);
            let y = lowering.ins().fmul(factor, r);
            let y = lowering.ins().fsub(y, s);
            let y = lowering.ins().fdiv(y, pivot);
            let [x, by] = [lowering.ins().fneg(r), lowering.ins().fmul(b, y)];
            let x = lowering.ins().fsub(x, by);
            let x = lowering.ins().fdiv(x, a);
            let [pivot, d, product] = [pivot, d, product].map(|v| lowering.ins().fabs(v));
            let sum = lowering.ins().fadd(d, product);
            let tolerance = lowering.number(NEARLY_SINGULAR);
            let least = lowering.ins().fmul(tolerance, sum);
            let mut conditions = is_normal(lowering, a).to_vec();
            conditions.push(lowering.ins().fcmp(FloatCC::GreaterThan, pivot, least));
            (vec![x, y], conditions)
        }
        // Nothing that is_small.
        _ => (Vec::new(), Vec::new()),
    }
}

/// Neither zero nor infinite.
fn is_normal(lowering: &mut Lowering, a: Value) -> [Value; 2] {
    let magnitude = lowering.ins().fabs(a);
    let (least, most) = (lowering.number(f64::MIN_POSITIVE), lowering.number(f64::MAX));
    [
        lowering.ins().fcmp(FloatCC::GreaterThanOrEqual, magnitude, least),
        lowering.ins().fcmp(FloatCC::LessThanOrEqual, magnitude, most),
    ]
}

/// The magnitude of the first entry of a row times the power of two that makes the row's magnitude about 1.
fn measured(lowering: &mut Lowering, first: Value, other: Value) -> Value {
    let [first, other] = [first, other].map(|v| lowering.ins().fabs(v));
    let is_larger = lowering.ins().fcmp(FloatCC::GreaterThan, other, first);
    let largest = lowering.ins().select(is_larger, other, first);
    let bits = lowering.ins().bitcast(types::I64, MemFlags::new(), largest);
    // Biased exponents of x and 1/x add up to 2046.
    let exponent = lowering.ins().ushr_imm(bits, 52);
    let exponent = lowering.ins().irsub_imm(exponent, 2046);
    let bits = lowering.ins().ishl_imm(exponent, 52);
    let scale = lowering.ins().bitcast(types::F64, MemFlags::new(), bits);
    lowering.ins().fmul(first, scale)
}
