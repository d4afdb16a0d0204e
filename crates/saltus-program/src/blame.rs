//! Which operation made a value that is not a finite number, in words.
//!
//! In: code, memory, and the value in question. Out: what went wrong where, and the variables that took part.
//!
//! ```text
//! y := log(x - 0.5) + 2,  x = 0.4   ⇒   logarithm of a negative number: `x - 0.5` is -0.1;   x = 0.4
//! ```
//!
//! The code is evaluated again; results of calls are not known here, and are blamed where nothing else can be.

use std::borrow::Cow;
use std::collections::BTreeMap;

use saltus_base::{Index, Span};

use crate::print::{bare, value_texts};
use crate::{BinaryFn, Block, Code, Op, Repeat, SimProgram, SlotId, SlotType, UnaryFn, ValueId};

/// Variables that are listed.
const MOST_NAMED: usize = 8;
/// Variables that are followed to where they were computed.
const MOST_HOPS: usize = 20;

/// What made a value that is not a finite number.
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
    let is_boolean = program.memory.slots.get(slot).is_some_and(|s| s.ty == SlotType::Boolean);
    let text = if is_boolean { (value != 0.0).to_string() } else { number(value) };
    format!("{} = {text}", program.memory.slot_name(slot))
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
    memory: &'b [f64],
    blocks: impl Iterator<Item = &'b Block>,
    slot: SlotId,
) -> Option<Blame> {
    Tracer::new(memory, blocks).blame(program, slot)
}

/// Follows values that are not finite to the operations that made them. It looks at the blocks once, and evaluates each at most
/// once, so that one can ask for thousands of variables.
pub struct Tracer<'b> {
    memory: &'b [f64],
    /// With the values of their operations, if these have been evaluated.
    codes: Vec<(Cow<'b, Code>, Option<Values>)>,
    /// Where each slot is computed.
    makers: BTreeMap<SlotId, Maker>,
    /// With the number of codes before them.
    repeats: Vec<(usize, &'b Repeat)>,
    /// Where elements of arrays are computed that have been looked at.
    elements: BTreeMap<SlotId, Maker>,
}

/// By operation; none where it depends on calls.
type Values = Vec<Option<f64>>;

/// Index of a code, a value of it, and the equation.
type Maker = (usize, ValueId, Span);

/// The operation that made a value which is not finite from finite ones.
struct Culprit {
    code: usize,
    at: ValueId,
    span: Span,
    fault: Fault,
}

impl<'b> Tracer<'b> {
    pub fn new(memory: &'b [f64], blocks: impl Iterator<Item = &'b Block>) -> Self {
        let (mut codes, mut makers, mut repeats) = (Vec::new(), BTreeMap::new(), Vec::new());
        for block in blocks {
            if let Block::Repeat(repeat) = block {
                repeats.push((codes.len(), &**repeat));
                continue;
            }
            for (code, stores) in stores(block) {
                for (value, slot, span) in stores {
                    makers.entry(slot).or_insert((codes.len(), value, span));
                }
                codes.push((Cow::Borrowed(code), None));
            }
        }
        Tracer { memory, codes, makers, repeats, elements: BTreeMap::new() }
    }

    /// Where the slot is computed first.
    fn maker(&mut self, slot: SlotId) -> Option<Maker> {
        if let Some(&element) = self.elements.get(&slot) {
            return Some(element);
        }
        let known = self.makers.get(&slot).copied();
        let is_before = |at: usize| known.is_none_or(|known| at <= known.0);
        let mut earlier = self.repeats.iter().take_while(|(at, _)| is_before(*at));
        let found =
            earlier.find_map(|(_, repeat)| repeat.storing(slot).map(|(element, value)| (*repeat, element, value)));
        let Some((repeat, element, value)) = found else { return known };
        let maker = (self.codes.len(), value, repeat.first.span);
        self.codes.push((Cow::Owned(repeat.element(element).code), None));
        self.elements.insert(slot, maker);
        Some(maker)
    }

    /// Why the slot has no finite value, in words.
    pub fn blame(&mut self, program: &SimProgram, slot: SlotId) -> Option<Blame> {
        let Culprit { code, at, span, fault } = self.culprit(slot)?;
        let (code, values) = self.evaluated(code);
        let what = describe(program, code, at, fault, values);
        let about = if let Fault::OutsideArray(index, _) = fault { index } else { at };
        Some(Blame {
            what,
            span,
            operands: operands(code, about),
            is_mistake: fault.is_mistake(),
            is_subscript: matches!(fault, Fault::OutsideArray(..)),
        })
    }

    /// Is it a zero where there may be none, or an argument outside the domain, that made the slot infinite?
    pub fn is_mistake(&mut self, slot: SlotId) -> bool {
        self.culprit(slot).is_some_and(|culprit| culprit.fault.is_mistake())
    }

    fn culprit(&mut self, mut slot: SlotId) -> Option<Culprit> {
        for _ in 0..MOST_HOPS {
            let (index, value, span) = self.maker(slot)?;
            let (code, values) = self.evaluated(index);
            match origin(code, values, value)? {
                Origin::Variable(other) if other == slot => return None,
                Origin::Variable(other) => slot = other,
                Origin::Operation(at) => {
                    return Some(Culprit { code: index, at, span, fault: fault(code, at, values) });
                }
            }
        }
        None
    }

    fn evaluated(&mut self, index: usize) -> (&Code, &[Option<f64>]) {
        let (code, values) = &mut self.codes[index];
        let values = values.get_or_insert_with(|| evaluate(code, self.memory));
        (code, values)
    }
}

/// A value of some code, where it is stored, and the equation.
type Stored = (ValueId, SlotId, Span);

/// What a block other than a [`Repeat`] stores, for each of its pieces of code: the value there, the slot, and the equation.
fn stores(block: &Block) -> Vec<(&Code, Vec<Stored>)> {
    let plain = |assign: &'_ crate::Assign| assign.stores.iter().map(|s| (s.0, s.1, assign.span)).collect();
    match block {
        Block::Assign(assign) => vec![(&assign.code, plain(assign))],
        Block::Repeat(_) => Vec::new(),
        Block::Loop(l) => {
            let inner = l.body.stores.iter().enumerate().map(|(i, s)| {
                let span = l.spans.get(l.residuals.len() + i).copied().unwrap_or(l.body.span);
                (s.0, s.1, span)
            });
            let body = (&l.body.code, inner.collect());
            [body].into_iter().chain(l.discrete.as_ref().map(|d| (&d.code, plain(d)))).collect()
        }
    }
}

/// The code that computes a slot, its value there, and the equation, if the block has them.
pub fn stored(block: &Block, slot: SlotId) -> Option<(Cow<'_, Code>, ValueId, Span)> {
    if let Block::Repeat(repeat) = block {
        let (element, value) = repeat.storing(slot)?;
        return Some((Cow::Owned(repeat.element(element).code), value, repeat.first.span));
    }
    let mut all = stores(block).into_iter().flat_map(|(code, stores)| stores.into_iter().map(move |s| (code, s)));
    all.find(|(_, store)| store.1 == slot).map(|(code, (value, _, span))| (Cow::Borrowed(code), value, span))
}

enum Origin {
    Operation(ValueId),
    Variable(SlotId),
}

fn at(values: &[Option<f64>], v: ValueId) -> Option<f64> {
    values.get(v.0 as usize).copied().flatten()
}

fn origin(code: &Code, values: &[Option<f64>], mut value: ValueId) -> Option<Origin> {
    let is_finite = |v: ValueId| at(values, v).is_some_and(f64::is_finite);
    loop {
        let op = code.ops.get(value.0 as usize)?;
        if is_finite(value) {
            return None;
        }
        // Operands come before their operation, so this ends.
        let blamed = match *op {
            Op::Const(_) => return None,
            Op::Load(slot) => return Some(Origin::Variable(slot)),
            Op::Select(c, _, b) if at(values, c)? == 0.0 && is_nothing(code, b) => {
                subscript(code, c)?;
                None
            }
            Op::Select(c, a, b) => Some(if at(values, c)? != 0.0 { a } else { b }),
            Op::Call(_) | Op::Result(..) => None,
            Op::Unary(_, a) => Some(a).filter(|&a| !is_finite(a)),
            Op::Binary(_, a, b) => [a, b].into_iter().find(|&v| !is_finite(v)),
        };
        match blamed {
            Some(operand) => value = operand,
            None => return Some(Origin::Operation(value)),
        }
    }
}

/// What stands for an element that an array does not have?
fn is_nothing(code: &Code, value: ValueId) -> bool {
    matches!(code.ops.get(value.0 as usize), Some(Op::Const(x)) if x.is_nan())
}

/// The subscript of a choice among elements that has none of these values, and the last of them: it is compared with that, or with
/// both bounds.
fn subscript(code: &Code, condition: ValueId) -> Option<(ValueId, ValueId)> {
    let op = |v: ValueId| code.ops.get(v.0 as usize);
    let bound = |v: ValueId| matches!(op(v), Some(Op::Const(_)));
    match *op(condition)? {
        Op::Binary(BinaryFn::And, _, last) => subscript(code, last),
        Op::Binary(BinaryFn::Equal | BinaryFn::LessEqual | BinaryFn::GreaterEqual, a, b) if bound(a) != bound(b) => {
            Some(if bound(a) { (b, a) } else { (a, b) })
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
#[derive(Clone, Copy)]
enum Fault {
    DivisionByZero(ValueId),
    BrokenPower(ValueId, ValueId),
    OutsideDomain(&'static str, ValueId),
    /// The subscript, and the last of its values.
    OutsideArray(ValueId, ValueId),
    TooLarge(ValueId, Option<ValueId>),
    Returned(u32),
    Other,
}

impl Fault {
    fn is_mistake(self) -> bool {
        !matches!(self, Fault::TooLarge(..) | Fault::Returned(_) | Fault::Other)
    }
}

fn fault(code: &Code, value: ValueId, values: &[Option<f64>]) -> Fault {
    let of = |v: ValueId| at(values, v).unwrap_or(f64::NAN);
    match code.ops.get(value.0 as usize) {
        Some(&Op::Binary(BinaryFn::Div | BinaryFn::IntDiv | BinaryFn::Mod | BinaryFn::Rem, _, b)) if of(b) == 0.0 => {
            Fault::DivisionByZero(b)
        }
        Some(&Op::Binary(BinaryFn::Pow, a, b)) if of(a) == 0.0 && of(b) < 0.0 => Fault::DivisionByZero(a),
        Some(&Op::Binary(BinaryFn::Pow, a, b)) if of(a) < 0.0 => Fault::BrokenPower(a, b),
        Some(&Op::Unary(f, a)) => match domain(f, of(a)) {
            Some(what) => Fault::OutsideDomain(what, a),
            None => Fault::TooLarge(a, None),
        },
        Some(&Op::Binary(_, a, b)) => Fault::TooLarge(a, Some(b)),
        Some(&Op::Call(k) | &Op::Result(k, _)) => Fault::Returned(k),
        Some(&Op::Select(c, ..)) => {
            subscript(code, c).map_or(Fault::Other, |(index, last)| Fault::OutsideArray(index, last))
        }
        _ => Fault::Other,
    }
}

fn describe(program: &SimProgram, code: &Code, value: ValueId, fault: Fault, values: &[Option<f64>]) -> String {
    let is = |v: ValueId| {
        let (text, value) = (text(program, code, v), number(at(values, v).unwrap_or(f64::NAN)));
        if text == value || text == format!("{value}.0") { value } else { format!("`{text}` is {value}") }
    };
    let whole = text(program, code, value);
    match fault {
        Fault::DivisionByZero(zero) => format!("division by zero in `{whole}`: {}", is(zero)),
        Fault::BrokenPower(a, b) => format!("broken power of a negative number in `{whole}`: {}, {}", is(a), is(b)),
        Fault::OutsideArray(index, last) => {
            let of = |v: ValueId| number(at(values, v).unwrap_or(f64::NAN));
            format!("the subscript {} is outside 1 to {}", of(index), of(last))
        }
        Fault::OutsideDomain(what, a) => format!("{what} in `{whole}`: {}", is(a)),
        Fault::TooLarge(a, None) => format!("`{whole}` is too large: {}", is(a)),
        Fault::TooLarge(a, Some(b)) => format!("`{whole}` is too large: {}, {}", is(a), is(b)),
        Fault::Returned(k) => {
            let function = code.calls.get(k as usize).and_then(|c| program.routines.callables.get(c.callable));
            let function = function.and_then(|c| program.routines.procedures.get(c.function)).map_or("?", |f| &f.name);
            format!("`{function}` returned no finite number")
        }
        Fault::Other => format!("`{whole}` is not a finite number"),
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
        let y = SlotId::from_usize(0);
        let block = Block::Assign(crate::Assign { code, stores: vec![(v(3), y)], span: Span::nowhere() });
        let mut tracer = Tracer::new(&[], [&block].into_iter());
        let blame = tracer.blame(&program, y).expect("something is blamed");
        assert_eq!(
            (blame.what.as_str(), blame.is_mistake),
            ("logarithm of a negative number in `log(-1.0)`: -1", true)
        );
        assert!(tracer.is_mistake(y), "the same without words");
    }

    #[test]
    fn the_element_of_an_array_is_blamed() {
        // y[i] := 1/x[i], x in slots 0 to 3, y in 4 to 7; then z := y[3], in slot 8.
        let (v, slot) = (ValueId, SlotId::from_usize);
        let ops = vec![Op::Const(1.0), Op::Load(slot(0)), Op::Binary(BinaryFn::Div, v(0), v(1))];
        let assign = |ops, value, to| crate::Assign {
            code: Code { ops, calls: vec![] },
            stores: vec![(v(value), slot(to))],
            span: Span::nowhere(),
        };
        let repeat = Repeat { first: assign(ops, 2, 4), sizes: vec![4], strides: vec![vec![1], vec![1]] };
        let blocks = [Block::from(repeat), Block::Assign(assign(vec![Op::Load(slot(6))], 0, 8))];
        let program = SimProgram::empty("M");
        let memory = [1.0, 2.0, 0.0, 4.0, 1.0, 0.5, f64::INFINITY, 0.25, f64::INFINITY];
        for at in [6, 8] {
            let blame = blame(&program, &memory, blocks.iter(), slot(at)).expect("something is blamed");
            assert_eq!((blame.operands, blame.is_mistake), (vec![slot(2)], true));
        }
        assert!(blame(&program, &memory, blocks.iter(), slot(7)).is_none(), "it is finite");
        assert_eq!(stored(&blocks[0], slot(6)).map(|s| s.0.ops[1]), Some(Op::Load(slot(2))));
    }
}
