//! Differentiates straight-line code along a direction, in two parts.
//!
//! ```text
//! y := x * sin(z)      coefficients, once a point:  c0 := sin(z); c1 := x * cos(z)… as far as they are not stored already
//!                      direction, once a direction:  ∂y := ∂x * c0 + ∂z * c1
//! ```
//!
//! In: [`Code`], the slots in which its values lie after it has been evaluated, the values whose tangents are wanted. Out: code
//! that computes slopes at the point and keeps them in slots of their own, and code that is linear in the tangents it loads. A
//! branch that is not taken has a finite tangent, however singular its slope: [`HOLE`].

use std::collections::HashMap;

use saltus_program::{BinaryFn, Call, CallableId, Code, Condition, Op, SlotId, UnaryFn, ValueId};

use super::layout::Layout;
use super::rules::{self, Slope, Writer};

/// Stands for a slope that is not finite: `sqrt` at 0. Where the branch is taken it shows in the result; where it is not, the
/// result must not become NaN.
pub(crate) const HOLE: f64 = 1e300;

/// A call whose result depends on this many active arguments or fewer is differentiated by each of them once a point; others
/// once a direction.
const FEW_ARGUMENTS: usize = 4;

#[derive(Clone, Debug)]
pub(crate) struct Differentiated {
    pub coefficients: Code,
    /// Values of `coefficients` and where they are kept.
    pub kept: Vec<(ValueId, SlotId)>,
    pub direction: Code,
    /// For each root its tangent, a value of `direction`; `None` if it is zero.
    pub tangents: Vec<Option<ValueId>>,
}

/// Differentiates `roots`, values of `code`. `stored` are values that can be loaded again.
pub(crate) fn differentiate(
    code: &Code,
    stored: &[(ValueId, SlotId)],
    roots: &[ValueId],
    layout: &mut Layout,
) -> Differentiated {
    let mut work = Differentiation {
        code,
        coefficients: Coefficients::of(code, stored),
        direction: Code::default(),
        loads: HashMap::new(),
        constants: HashMap::new(),
        kept: Vec::new(),
        places: HashMap::new(),
        calls: code.calls.iter().map(|_| CallTangent::Zero).collect(),
        tangents: Vec::with_capacity(code.ops.len()),
        layout,
    };
    let is_live = live(code, roots);
    for (i, is_live) in is_live.into_iter().enumerate() {
        let tangent = if is_live { work.operation(i) } else { None };
        work.tangents.push(tangent);
    }
    let tangents: Vec<Option<ValueId>> = roots.iter().map(|&r| work.tangent(r)).collect();
    work.finish(tangents)
}

/// Which values of `code` change along some direction; `is_active` tells of slots.
pub(crate) fn active_values(
    code: &Code,
    is_active: &dyn Fn(SlotId) -> bool,
    has_tangent: &dyn Fn(CallableId) -> bool,
) -> Vec<bool> {
    let mut active = Vec::with_capacity(code.ops.len());
    for op in &code.ops {
        let is = |v: ValueId| active.get(v.0 as usize).copied().unwrap_or(false);
        let value = match *op {
            Op::Const(_) => false,
            Op::Load(slot) => is_active(slot),
            Op::Unary(function, a) => is(a) && rules::is_smooth_unary(function),
            Op::Binary(function, a, b) => (is(a) || is(b)) && rules::is_smooth_binary(function),
            Op::Select(_, a, b) => is(a) || is(b),
            Op::Call(k) | Op::Result(k, _) => {
                let call = code.calls.get(k as usize);
                call.is_some_and(|c| has_tangent(c.callable) && c.arguments.iter().any(|&a| is(a)))
            }
        };
        active.push(value);
    }
    active
}

/// Which values `roots` are computed from.
pub(crate) fn live(code: &Code, roots: &[ValueId]) -> Vec<bool> {
    let mut live = vec![false; code.ops.len()];
    let mut live_calls = vec![false; code.calls.len()];
    let mark = |live: &mut Vec<bool>, v: ValueId| {
        if let Some(place) = live.get_mut(v.0 as usize) {
            *place = true;
        }
    };
    roots.iter().for_each(|&r| mark(&mut live, r));
    for (i, op) in code.ops.iter().enumerate().rev() {
        if let Op::Call(k) = *op
            && live_calls.get(k as usize) == Some(&true)
        {
            live[i] = true;
        }
        if !live[i] {
            continue;
        }
        match *op {
            Op::Const(_) | Op::Load(_) => {}
            Op::Unary(_, a) => mark(&mut live, a),
            Op::Binary(_, a, b) => [a, b].into_iter().for_each(|v| mark(&mut live, v)),
            Op::Select(c, a, b) => [c, a, b].into_iter().for_each(|v| mark(&mut live, v)),
            Op::Call(k) => {
                let call = code.calls.get(k as usize);
                call.into_iter().flat_map(Call::operands).for_each(|v| mark(&mut live, v));
            }
            Op::Result(k, _) => {
                if let Some(call) = live_calls.get_mut(k as usize) {
                    *call = true;
                }
            }
        }
    }
    live
}

/// Leaves out what none of `roots` needs, and renumbers them.
pub(crate) fn compact<'r>(code: &Code, roots: impl Iterator<Item = &'r mut ValueId>) -> Code {
    let roots: Vec<&mut ValueId> = roots.collect();
    let is_live = live(code, &roots.iter().map(|r| **r).collect::<Vec<_>>());
    let mut places = vec![ValueId(0); code.ops.len()];
    let mut call_places = vec![0; code.calls.len()];
    let mut compacted = Code::default();
    for (i, op) in code.ops.iter().enumerate().filter(|(i, _)| is_live[*i]) {
        let at = |v: ValueId| places.get(v.0 as usize).copied().unwrap_or(ValueId(0));
        let op = match *op {
            Op::Unary(function, a) => Op::Unary(function, at(a)),
            Op::Binary(function, a, b) => Op::Binary(function, at(a), at(b)),
            Op::Select(c, a, b) => Op::Select(at(c), at(a), at(b)),
            Op::Call(k) => {
                if let Some(call) = code.calls.get(k as usize) {
                    call_places[k as usize] = compacted.calls.len() as u32;
                    compacted.calls.push(Call {
                        callable: call.callable,
                        arguments: call.arguments.iter().map(|&a| at(a)).collect(),
                        conditions: call
                            .conditions
                            .iter()
                            .map(|c| Condition { value: at(c.value), is: c.is })
                            .collect(),
                    });
                }
                Op::Call(call_places.get(k as usize).copied().unwrap_or(0))
            }
            Op::Result(k, result) => Op::Result(call_places.get(k as usize).copied().unwrap_or(0), result),
            other @ (Op::Const(_) | Op::Load(_)) => other,
        };
        places[i] = push(&mut compacted, op);
    }
    for root in roots {
        *root = places.get(root.0 as usize).copied().unwrap_or(ValueId(0));
    }
    compacted
}

pub(crate) fn push(code: &mut Code, op: Op) -> ValueId {
    code.ops.push(op);
    ValueId(code.ops.len() as u32 - 1)
}

/// The original operations, and behind them those of slopes.
struct Coefficients {
    code: Code,
    /// By value: may it be something other than a finite number where the model is fine?
    is_risky: Vec<bool>,
    constants: HashMap<u64, ValueId>,
}

impl Coefficients {
    fn of(code: &Code, stored: &[(ValueId, SlotId)]) -> Self {
        let mut coefficients = Coefficients {
            code: Code { ops: Vec::with_capacity(2 * code.ops.len()), calls: code.calls.clone() },
            is_risky: Vec::with_capacity(2 * code.ops.len()),
            constants: HashMap::new(),
        };
        let mut loads = vec![None; code.ops.len()];
        for &(value, slot) in stored {
            if let Some(load) = loads.get_mut(value.0 as usize) {
                *load = Some(slot);
            }
        }
        for (op, load) in code.ops.iter().zip(loads) {
            let is_cheap = matches!(op, Op::Const(_) | Op::Load(_));
            coefficients.push(load.filter(|_| !is_cheap).map_or(*op, Op::Load));
        }
        coefficients
    }

    fn push(&mut self, op: Op) -> ValueId {
        let is_risky = self.risk(&op);
        self.is_risky.push(is_risky);
        push(&mut self.code, op)
    }

    fn constant_of(&self, v: ValueId) -> Option<f64> {
        match self.code.ops.get(v.0 as usize) {
            Some(Op::Const(c)) => Some(*c),
            _ => None,
        }
    }

    fn risk(&self, op: &Op) -> bool {
        use UnaryFn::{Acos, Asin, Atanh, Cosh, Exp, Log, Log10, Not, Sinh, Sqrt, Tan};
        let is = |v: ValueId| self.is_risky.get(v.0 as usize).copied().unwrap_or(true);
        match *op {
            Op::Const(c) => !c.is_finite(),
            Op::Load(_) | Op::Unary(Not, _) => false,
            Op::Unary(Tan | Asin | Acos | Sinh | Cosh | Exp | Log | Log10 | Sqrt | Atanh, _) => true,
            Op::Unary(_, a) => is(a),
            Op::Binary(BinaryFn::Div, a, b) => is(a) || self.constant_of(b).is_none_or(|b| b == 0.0),
            Op::Binary(BinaryFn::Pow, a, b) => is(a) || self.constant_of(b).is_none_or(|b| b < 0.0 || b.fract() != 0.0),
            Op::Binary(function, a, b) if rules::is_smooth_binary(function) => {
                is(a) || is(b) || matches!(function, BinaryFn::Atan2 | BinaryFn::Mod | BinaryFn::Rem)
            }
            Op::Binary(BinaryFn::IntDiv, ..) => true,
            Op::Binary(..) => false,
            Op::Select(_, a, b) => is(a) || is(b),
            Op::Call(_) | Op::Result(..) => true,
        }
    }

    /// The value, or [`HOLE`] where it is not finite.
    fn filled(&mut self, v: ValueId) -> ValueId {
        if !self.is_risky.get(v.0 as usize).copied().unwrap_or(true) {
            return v;
        }
        let difference = self.binary(BinaryFn::Sub, v, v);
        let (zero, hole) = (self.constant(0.0), self.constant(HOLE));
        let is_finite = self.binary(BinaryFn::Equal, difference, zero);
        self.push(Op::Select(is_finite, v, hole))
    }
}

impl Writer for Coefficients {
    type Value = ValueId;

    fn constant(&mut self, value: f64) -> ValueId {
        match self.constants.get(&value.to_bits()) {
            Some(&known) => known,
            None => {
                let new = self.push(Op::Const(value));
                self.constants.insert(value.to_bits(), new);
                new
            }
        }
    }

    fn unary(&mut self, function: UnaryFn, a: ValueId) -> ValueId {
        match self.constant_of(a) {
            Some(a) => self.constant(function.apply(a)),
            None => self.push(Op::Unary(function, a)),
        }
    }

    fn binary(&mut self, function: BinaryFn, a: ValueId, b: ValueId) -> ValueId {
        match (function, self.constant_of(a), self.constant_of(b)) {
            (_, Some(a), Some(b)) => self.constant(function.apply(a, b)),
            (BinaryFn::Pow, _, Some(1.0)) => a,
            (BinaryFn::Pow, _, Some(0.0)) => self.constant(1.0),
            _ => self.push(Op::Binary(function, a, b)),
        }
    }
}

/// How the results of a call change.
enum CallTangent {
    Zero,
    /// Tangents of arguments with the call, among the coefficients, that gives the slopes by each.
    ByArgument(Vec<(ValueId, u32)>),
    /// The call, in the code of the direction, that gives the tangents.
    Directional(u32),
}

struct Differentiation<'c> {
    code: &'c Code,
    coefficients: Coefficients,
    direction: Code,
    /// Loads and constants of `direction`, each once.
    loads: HashMap<SlotId, ValueId>,
    constants: HashMap<u64, ValueId>,
    kept: Vec<(ValueId, SlotId)>,
    /// Where values of the coefficients are kept.
    places: HashMap<ValueId, SlotId>,
    calls: Vec<CallTangent>,
    tangents: Vec<Option<ValueId>>,
    layout: &'c mut Layout,
}

impl Differentiation<'_> {
    fn tangent(&self, v: ValueId) -> Option<ValueId> {
        self.tangents.get(v.0 as usize).copied().flatten()
    }

    fn operation(&mut self, i: usize) -> Option<ValueId> {
        match *self.code.ops.get(i)? {
            Op::Const(_) => None,
            Op::Load(slot) => {
                let tangent = self.layout.tangent(slot)?;
                Some(self.load(tangent))
            }
            Op::Unary(function, a) => {
                let tangent = self.tangent(a)?;
                let slope = rules::unary(&mut self.coefficients, function, a);
                self.scaled(slope, tangent)
            }
            Op::Binary(function, a, b) => {
                let (by_a, by_b) = (self.tangent(a), self.tangent(b));
                if by_a.is_none() && by_b.is_none() {
                    return None;
                }
                let (a, b) = ((a, by_a.is_some()), (b, by_b.is_some()));
                let (slope_a, slope_b) = rules::binary(&mut self.coefficients, function, a, b);
                let first = by_a.and_then(|t| self.scaled(slope_a, t));
                match (first, by_b, slope_b) {
                    (Some(first), Some(second), Slope::One) => Some(self.write(BinaryFn::Add, first, second)),
                    (Some(first), Some(second), Slope::MinusOne) => Some(self.write(BinaryFn::Sub, first, second)),
                    (first, second, slope) => {
                        let second = second.and_then(|t| self.scaled(slope, t));
                        self.sum(first, second)
                    }
                }
            }
            Op::Select(condition, a, b) => {
                let (by_a, by_b) = (self.tangent(a), self.tangent(b));
                if by_a.is_none() && by_b.is_none() {
                    return None;
                }
                let condition = self.factor(condition);
                let (by_a, by_b) =
                    (by_a.unwrap_or_else(|| self.constant(0.0)), by_b.unwrap_or_else(|| self.constant(0.0)));
                Some(push(&mut self.direction, Op::Select(condition, by_a, by_b)))
            }
            Op::Call(k) => {
                self.call(k as usize);
                None
            }
            Op::Result(k, result) => self.result(k as usize, result),
        }
    }

    fn call(&mut self, k: usize) {
        let Some(call) = self.code.calls.get(k) else { return };
        let Some(callable) = self.layout.tangent_of_call(call.callable) else { return };
        let active: Vec<(usize, ValueId)> =
            call.arguments.iter().enumerate().filter_map(|(i, &a)| Some((i, self.tangent(a)?))).collect();
        let tangent = if active.is_empty() {
            CallTangent::Zero
        } else if active.len() <= FEW_ARGUMENTS {
            CallTangent::ByArgument(
                active.iter().map(|&(i, t)| (t, self.call_by_argument(call, callable, i))).collect(),
            )
        } else {
            CallTangent::Directional(self.call_along_direction(call, callable))
        };
        if let Some(place) = self.calls.get_mut(k) {
            *place = tangent;
        }
    }

    /// The slopes of a call by one of its arguments.
    fn call_by_argument(&mut self, call: &Call, callable: CallableId, argument: usize) -> u32 {
        let (zero, one) = (self.coefficients.constant(0.0), self.coefficients.constant(1.0));
        let direction = (0..call.arguments.len()).map(|i| if i == argument { one } else { zero });
        let arguments = call.arguments.iter().copied().chain(direction).collect();
        let number = self.coefficients.code.calls.len() as u32;
        self.coefficients.code.calls.push(Call { callable, arguments, conditions: call.conditions.clone() });
        self.coefficients.push(Op::Call(number));
        number
    }

    fn call_along_direction(&mut self, call: &Call, callable: CallableId) -> u32 {
        let values: Vec<ValueId> = call.arguments.iter().map(|&a| self.factor(a)).collect();
        let zero = self.constant(0.0);
        let tangents = call.arguments.iter().map(|&a| self.tangent(a).unwrap_or(zero));
        let arguments = values.into_iter().chain(tangents).collect();
        let conditions = call.conditions.iter().map(|c| Condition { value: self.factor(c.value), is: c.is }).collect();
        let number = self.direction.calls.len() as u32;
        self.direction.calls.push(Call { callable, arguments, conditions });
        push(&mut self.direction, Op::Call(number));
        number
    }

    fn result(&mut self, k: usize, result: u32) -> Option<ValueId> {
        let slopes = match self.calls.get(k)? {
            CallTangent::Zero => return None,
            CallTangent::Directional(number) => return Some(push(&mut self.direction, Op::Result(*number, result))),
            CallTangent::ByArgument(slopes) => slopes.clone(),
        };
        let mut sum = None;
        for (tangent, number) in slopes {
            let slope = self.coefficients.push(Op::Result(number, result));
            let term = self.scaled(Slope::Value(slope), tangent);
            sum = self.sum(sum, term);
        }
        sum
    }

    fn scaled(&mut self, slope: Slope<ValueId>, tangent: ValueId) -> Option<ValueId> {
        match slope {
            Slope::Zero => None,
            Slope::One => Some(tangent),
            Slope::MinusOne => Some(push(&mut self.direction, Op::Unary(UnaryFn::Negate, tangent))),
            Slope::Value(slope) => match self.coefficients.constant_of(slope) {
                Some(0.0) => None,
                Some(1.0) => Some(tangent),
                Some(-1.0) => self.scaled(Slope::MinusOne, tangent),
                _ => {
                    let factor = self.factor(slope);
                    Some(self.write(BinaryFn::Mul, factor, tangent))
                }
            },
        }
    }

    fn sum(&mut self, a: Option<ValueId>, b: Option<ValueId>) -> Option<ValueId> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.write(BinaryFn::Add, a, b)),
            (a, b) => a.or(b),
        }
    }

    fn write(&mut self, function: BinaryFn, a: ValueId, b: ValueId) -> ValueId {
        push(&mut self.direction, Op::Binary(function, a, b))
    }

    /// A value of the coefficients in the code of the direction.
    fn factor(&mut self, v: ValueId) -> ValueId {
        match self.coefficients.code.ops.get(v.0 as usize) {
            Some(Op::Const(c)) => {
                let c = *c;
                self.constant(c)
            }
            Some(Op::Load(slot)) => {
                let slot = *slot;
                self.load(slot)
            }
            _ => {
                let slot = match self.places.get(&v) {
                    Some(&slot) => slot,
                    None => {
                        let slot = self.layout.new_coefficient();
                        let value = self.coefficients.filled(v);
                        self.kept.push((value, slot));
                        self.places.insert(v, slot);
                        slot
                    }
                };
                self.load(slot)
            }
        }
    }

    fn load(&mut self, slot: SlotId) -> ValueId {
        let direction = &mut self.direction;
        *self.loads.entry(slot).or_insert_with(|| push(direction, Op::Load(slot)))
    }

    fn constant(&mut self, value: f64) -> ValueId {
        let direction = &mut self.direction;
        *self.constants.entry(value.to_bits()).or_insert_with(|| push(direction, Op::Const(value)))
    }

    /// Leaves out what is not needed.
    fn finish(self, mut tangents: Vec<Option<ValueId>>) -> Differentiated {
        let mut kept = self.kept;
        let coefficients = compact(&self.coefficients.code, kept.iter_mut().map(|(value, _)| value));
        let direction = compact(&self.direction, tangents.iter_mut().flatten());
        Differentiated { coefficients, kept, direction, tangents }
    }
}
