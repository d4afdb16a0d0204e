//! Which operation made a value that is no finite number, in words.
//!
//! In: code, memory, and the value in question. Out: what went wrong where, and the variables that took part.
//!
//! ```text
//! y := log(x - 0.5) + 2,  x = 0.4   ⇒   logarithm of a negative number: `x - 0.5` is -0.1;   x = 0.4
//! ```
//!
//! The code is evaluated again; results of calls are not known here, and are blamed where nothing else can be.

use saltus_base::{Index, Span};

use crate::print::{bare, value_texts};
use crate::{BinaryFn, Block, Code, Op, SimProgram, SlotId, SlotType, UnaryFn, ValueId};

/// Variables that are listed.
const MOST_NAMED: usize = 8;
/// Variables that are followed to where they were computed.
const MOST_HOPS: usize = 20;

/// What made a value that is no finite number.
#[derive(Clone, PartialEq, Debug)]
pub struct Blame {
    pub what: String,
    /// The equation.
    pub span: Span,
    /// Variables that took part.
    pub operands: Vec<SlotId>,
    /// A zero where there may be none, or an argument outside the domain; else an overflow or something infinite.
    pub is_mistake: bool,
    /// A subscript outside of an array; there may be an assertion about it.
    pub is_subscript: bool,
}

impl Blame {
    /// The variables that took part with their values, as in `x = 0.4`.
    pub fn values(&self, program: &SimProgram, memory: &[f64]) -> Vec<String> {
        self.operands.iter().map(|&slot| named(program, memory, slot)).collect()
    }
}

/// A variable with its value, as in `x = 0.4`.
pub fn named(program: &SimProgram, memory: &[f64], slot: SlotId) -> String {
    let value = memory.get(slot.index()).copied().unwrap_or(f64::NAN);
    let is_boolean = program.slots.get(slot).is_some_and(|s| s.ty == SlotType::Boolean);
    let text = if is_boolean { (value != 0.0).to_string() } else { number(value) };
    format!("{} = {text}", program.slot_name(slot))
}

/// As short as it can be without losing a digit.
pub fn number(x: f64) -> String {
    let text = format!("{x:?}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// Variables that a value depends on directly, in the order of the code.
pub fn operands(code: &Code, value: ValueId) -> Vec<SlotId> {
    let mut needed = vec![false; code.ops.len()];
    if let Some(place) = needed.get_mut(value.0 as usize) {
        *place = true;
    }
    let mut slots = Vec::new();
    for (i, op) in code.ops.iter().enumerate().rev() {
        if !needed[i] {
            continue;
        }
        if let Op::Load(slot) = op {
            slots.push(*slot);
        }
        for child in children(code, op) {
            if let Some(place) = needed.get_mut(child.0 as usize) {
                *place = true;
            }
        }
    }
    slots.reverse();
    slots.truncate(MOST_NAMED);
    slots
}

/// The text of a value, as in `x - 0.5`.
pub fn text(program: &SimProgram, code: &Code, value: ValueId) -> String {
    let texts = value_texts(program, code);
    bare(texts.get(value.0 as usize).map_or("?", String::as_str)).to_owned()
}

fn children(code: &Code, op: &Op) -> Vec<ValueId> {
    match op {
        Op::Const(_) | Op::Load(_) => Vec::new(),
        Op::Unary(_, a) => vec![*a],
        Op::Binary(_, a, b) => vec![*a, *b],
        Op::Select(c, a, b) => vec![*c, *a, *b],
        Op::Call(k) | Op::Result(k, _) => code.calls.get(*k as usize).map_or(Vec::new(), |c| c.arguments.clone()),
    }
}

/// Why `slot`, which one of the blocks stores, has no finite value; follows it through other variables.
pub fn blame<'b>(
    program: &SimProgram,
    memory: &[f64],
    blocks: impl Iterator<Item = &'b Block> + Clone,
    mut slot: SlotId,
) -> Option<Blame> {
    for _ in 0..MOST_HOPS {
        let (code, value, span) = blocks.clone().find_map(|block| stored(block, slot))?;
        match origin(program, memory, code, value)? {
            Origin::Variable(other) if other == slot => return None,
            Origin::Variable(other) => slot = other,
            Origin::Operation { what, operands, is_mistake } => {
                return Some(Blame { what, span, operands, is_mistake, is_subscript: false });
            }
            Origin::Subscript { what, operands } => {
                return Some(Blame { what, span, operands, is_mistake: true, is_subscript: true });
            }
        }
    }
    None
}

/// The code that computes a slot, its value there, and the equation.
pub fn stored(block: &Block, slot: SlotId) -> Option<(&Code, ValueId, Span)> {
    let of = |assign: &'_ crate::Assign| assign.stores.iter().position(|s| s.1 == slot);
    match block {
        Block::Assign(assign) => of(assign).map(|i| (&assign.code, assign.stores[i].0, assign.span)),
        Block::Loop(l) => {
            let inner = of(&l.body).map(|i| {
                let span = l.spans.get(l.residuals.len() + i).copied().unwrap_or(l.body.span);
                (&l.body.code, l.body.stores[i].0, span)
            });
            let discrete = l.discrete.as_ref();
            inner.or_else(|| discrete.and_then(|d| of(d).map(|i| (&d.code, d.stores[i].0, d.span))))
        }
    }
}

enum Origin {
    Operation { what: String, operands: Vec<SlotId>, is_mistake: bool },
    Subscript { what: String, operands: Vec<SlotId> },
    Variable(SlotId),
}

fn origin(program: &SimProgram, memory: &[f64], code: &Code, mut at: ValueId) -> Option<Origin> {
    let values = evaluate(code, memory);
    let value = |v: ValueId| values.get(v.0 as usize).copied().flatten();
    let is_finite = |v: ValueId| value(v).is_some_and(f64::is_finite);
    loop {
        let op = code.ops.get(at.0 as usize)?;
        if is_finite(at) {
            return None;
        }
        // Operands come before their operation, so this ends.
        let blamed = match *op {
            Op::Const(_) => return None,
            Op::Load(slot) => return Some(Origin::Variable(slot)),
            Op::Select(c, _, b) if value(c)? == 0.0 && is_nothing(code, b) => {
                let (what, index) = subscript(code, c, &value)?;
                return Some(Origin::Subscript { what, operands: operands(code, index) });
            }
            Op::Select(c, a, b) => Some(if value(c)? != 0.0 { a } else { b }),
            Op::Call(_) | Op::Result(..) => None,
            Op::Unary(_, a) => Some(a).filter(|&a| !is_finite(a)),
            Op::Binary(_, a, b) => [a, b].into_iter().find(|&v| !is_finite(v)),
        };
        match blamed {
            Some(operand) => at = operand,
            None => {
                let (what, is_mistake) = describe(program, code, at, &value);
                return Some(Origin::Operation { what, operands: operands(code, at), is_mistake });
            }
        }
    }
}

/// What stands for an element that an array does not have?
fn is_nothing(code: &Code, value: ValueId) -> bool {
    matches!(code.ops.get(value.0 as usize), Some(Op::Const(x)) if x.is_nan())
}

/// The subscript of a choice among elements that has none of these values: it is compared with the last of them, or with both
/// bounds.
fn subscript(code: &Code, condition: ValueId, value: &dyn Fn(ValueId) -> Option<f64>) -> Option<(String, ValueId)> {
    let op = |v: ValueId| code.ops.get(v.0 as usize);
    let bound = |v: ValueId| matches!(op(v), Some(Op::Const(_)));
    match *op(condition)? {
        Op::Binary(BinaryFn::And, _, last) => subscript(code, last, value),
        Op::Binary(BinaryFn::Equal | BinaryFn::LessEqual | BinaryFn::GreaterEqual, a, b) if bound(a) != bound(b) => {
            let (index, last) = if bound(a) { (b, a) } else { (a, b) };
            Some((format!("the subscript {} is outside 1 to {}", number(value(index)?), number(value(last)?)), index))
        }
        _ => None,
    }
}

/// What a value is with this memory, unless it depends on calls.
pub fn value(code: &Code, value: ValueId, memory: &[f64]) -> Option<f64> {
    evaluate(code, memory).get(value.0 as usize).copied().flatten()
}

/// Values of all operations; none where they depend on calls.
fn evaluate(code: &Code, memory: &[f64]) -> Vec<Option<f64>> {
    let mut values: Vec<Option<f64>> = Vec::with_capacity(code.ops.len());
    for op in &code.ops {
        let at = |v: ValueId| values.get(v.0 as usize).copied().flatten();
        let value = match *op {
            Op::Const(constant) => Some(constant),
            Op::Load(slot) => memory.get(slot.index()).copied(),
            Op::Unary(f, a) => at(a).map(|a| f.apply(a)),
            Op::Binary(f, a, b) => at(a).zip(at(b)).map(|(a, b)| f.apply(a, b)),
            Op::Select(c, a, b) => at(c).and_then(|c| at(if c != 0.0 { a } else { b })),
            Op::Call(_) | Op::Result(..) => None,
        };
        values.push(value);
    }
    values
}

/// What is wrong with an operation whose operands are finite.
fn describe(program: &SimProgram, code: &Code, at: ValueId, value: &dyn Fn(ValueId) -> Option<f64>) -> (String, bool) {
    let is = |v: ValueId| {
        let (text, value) = (text(program, code, v), number(value(v).unwrap_or(f64::NAN)));
        if text == value || text == format!("{value}.0") { value } else { format!("`{text}` is {value}") }
    };
    let of = |v: ValueId| value(v).unwrap_or(f64::NAN);
    let whole = || text(program, code, at);
    match code.ops.get(at.0 as usize) {
        Some(&Op::Binary(BinaryFn::Div | BinaryFn::IntDiv | BinaryFn::Mod | BinaryFn::Rem, _, b)) if of(b) == 0.0 => {
            (format!("division by zero in `{}`: {}", whole(), is(b)), true)
        }
        Some(&Op::Binary(BinaryFn::Pow, a, b)) if of(a) == 0.0 && of(b) < 0.0 => {
            (format!("division by zero in `{}`: {}", whole(), is(a)), true)
        }
        Some(&Op::Binary(BinaryFn::Pow, a, b)) if of(a) < 0.0 => {
            (format!("broken power of a negative number in `{}`: {}, {}", whole(), is(a), is(b)), true)
        }
        Some(&Op::Unary(f, a)) => match domain(f, of(a)) {
            Some(what) => (format!("{what} in `{}`: {}", whole(), is(a)), true),
            None => (format!("`{}` is too large: {}", whole(), is(a)), false),
        },
        Some(&Op::Binary(_, a, b)) => (format!("`{}` is too large: {}, {}", whole(), is(a), is(b)), false),
        Some(&Op::Call(k) | &Op::Result(k, _)) => {
            let function = code.calls.get(k as usize).and_then(|c| program.callables.get(c.callable));
            let function = function.and_then(|c| program.procedures.get(c.function)).map_or("?", |f| &f.name);
            (format!("`{function}` returned no finite number"), false)
        }
        _ => (format!("`{}` is no finite number", whole()), false),
    }
}

/// What an argument outside the domain of a function is called.
fn domain(f: UnaryFn, x: f64) -> Option<&'static str> {
    Some(match f {
        UnaryFn::Log | UnaryFn::Log10 if x < 0.0 => "logarithm of a negative number",
        UnaryFn::Log | UnaryFn::Log10 if x == 0.0 => "logarithm of zero",
        UnaryFn::Sqrt if x < 0.0 => "square root of a negative number",
        UnaryFn::Asin if x.abs() > 1.0 => "arcsine of a number outside -1 … 1",
        UnaryFn::Acos if x.abs() > 1.0 => "arccosine of a number outside -1 … 1",
        UnaryFn::Atanh if x.abs() >= 1.0 => "area tangent of a number outside -1 … 1",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_exact() {
        assert_eq!((number(0.0), number(-3.0), number(0.1)), ("0".into(), "-3".into(), "0.1".into()));
        assert_eq!(number(f64::INFINITY), "inf");
    }

    #[test]
    fn only_brackets_around_all_of_it_are_left_out() {
        assert_eq!((bare("(x - 1)"), bare("(a) + (b)"), bare("f(x)")), ("x - 1", "(a) + (b)", "f(x)"));
    }

    #[test]
    fn the_first_operation_without_a_finite_result_is_blamed() {
        // 2 + log(-1)
        let v = ValueId;
        let ops =
            vec![Op::Const(-1.0), Op::Unary(UnaryFn::Log, v(0)), Op::Const(2.0), Op::Binary(BinaryFn::Add, v(2), v(1))];
        let code = Code { ops, calls: vec![] };
        let program = SimProgram::empty("M");
        let Some(Origin::Operation { what, is_mistake, .. }) = origin(&program, &[], &code, v(3)) else {
            panic!("nothing is blamed")
        };
        assert_eq!((what.as_str(), is_mistake), ("logarithm of a negative number in `log(-1.0)`: -1", true));
    }
}
