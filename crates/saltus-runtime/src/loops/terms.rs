//! How large the operations of a code are without cancellation.
//!
//! ```text
//! a - b*(c + d)    ⇒    |a| + |b|*(|c| + |d|)
//! ```
//!
//! A residual is small if it is small beside this: rounding, and the error of what it is computed from, are parts of it.

use saltus_program::{BinaryFn, Code, Op, UnaryFn, ValueId};

/// By operation; `value` tells what the code has computed, `is_whole` which of that counts as one term.
pub fn sizes(code: &Code, value: impl Fn(ValueId) -> f64, is_whole: impl Fn(ValueId) -> bool) -> Vec<f64> {
    let mut sizes: Vec<f64> = Vec::with_capacity(code.ops.len());
    for id in (0..code.ops.len() as u32).map(ValueId) {
        let size = if is_whole(id) { value(id).abs() } else { size(code, id, &value, &sizes) };
        sizes.push(size);
    }
    sizes
}

/// Of one operation, from the sizes of those before it.
pub fn size(code: &Code, id: ValueId, value: &impl Fn(ValueId) -> f64, sizes: &[f64]) -> f64 {
    let of = |v: ValueId| sizes.get(v.0 as usize).copied().unwrap_or(f64::NAN);
    match code.ops.get(id.0 as usize) {
        Some(&Op::Unary(UnaryFn::Negate, a)) => of(a),
        Some(&Op::Binary(BinaryFn::Add | BinaryFn::Sub, a, b)) => of(a) + of(b),
        Some(&Op::Binary(BinaryFn::Mul, a, b)) => of(a) * of(b),
        Some(&Op::Binary(BinaryFn::Div, a, b)) => of(a) / value(b).abs(),
        Some(&Op::Select(c, a, b)) => of(if value(c) != 0.0 { a } else { b }),
        _ => value(id).abs(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_do_not_cancel() {
        // 5 - 2*(3 + -1) = 1, whose terms are 5, 6 and 2
        let v = ValueId;
        let ops = vec![
            Op::Const(5.0),
            Op::Const(2.0),
            Op::Const(3.0),
            Op::Const(-1.0),
            Op::Binary(BinaryFn::Add, v(2), v(3)),
            Op::Binary(BinaryFn::Mul, v(1), v(4)),
            Op::Binary(BinaryFn::Sub, v(0), v(5)),
        ];
        let values = [5.0, 2.0, 3.0, -1.0, 2.0, 4.0, 1.0];
        let code = Code { ops, calls: vec![] };
        let value = |id: ValueId| values[id.0 as usize];
        assert_eq!(sizes(&code, value, |_| false)[6], 13.0);
        // With the sum as a variable of its own: 5 and 4.
        assert_eq!(sizes(&code, value, |id| id == v(4))[6], 9.0);
    }
}
