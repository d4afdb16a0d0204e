//! The parts of a local variable that are assigned apart from each other, and which of them an expression selects.
//!
//! ```text
//! Real v[2];                            v[1], v[2]
//! record R Real a; Real b[2]; end R;    r.a, r.b[1], r.b[2]
//! ```
//!
//! Arrays whose size is not known, or large, are one part. A subscript selects what it is certain to be: a number, or the values of an iteration
//! variable with a known range, by which one element after the other is selected; any other subscript may select everything.

use std::collections::BTreeMap;

use saltus_base::IdVec;
use saltus_flat::{
    BaseType, BinaryOp, Builtin, Expr, ExprKind, Function, LocalId, RecordId, RecordType, Subscript, Type,
};

/// Of one variable; more are not told apart.
const MOST_PARTS: usize = 256;
/// Rounds of a loop whose values are looked at.
const MOST_ROUNDS: i64 = 1000;

type Records = IdVec<RecordId, RecordType>;

/// A scalar part, or an array that is not looked into.
pub(super) struct Part {
    /// Positions of fields and values of subscripts, from the variable on.
    path: Vec<u32>,
    /// `.a[2]`; empty if it is the variable itself.
    pub name: String,
    /// Neither an array nor in one.
    pub is_field: bool,
}

pub(super) fn of(ty: &Type, records: &Records) -> Vec<Part> {
    let whole = || Part { path: Vec::new(), name: String::new(), is_field: ty.is_scalar() };
    let mut parts = Vec::new();
    match collect(ty, records, whole(), &mut parts) {
        Some(()) if !parts.is_empty() => parts,
        _ => vec![whole()],
    }
}

/// `None` if there are too many.
fn collect(ty: &Type, records: &Records, place: Part, parts: &mut Vec<Part>) -> Option<()> {
    let dims: Option<Vec<u64>> = ty.dims.iter().map(|d| d.known()).collect();
    let Some(dims) = dims else {
        parts.push(Part { is_field: false, ..place });
        return Some(());
    };
    let n = dims.iter().try_fold(1u64, |n, &d| n.checked_mul(d))?;
    if n > MOST_PARTS as u64 {
        return None;
    }
    for k in 0..n {
        let mut rest = k;
        let mut subscripts: Vec<u32> = Vec::with_capacity(dims.len());
        for &d in dims.iter().rev() {
            subscripts.push((rest % d) as u32 + 1);
            rest /= d;
        }
        subscripts.reverse();
        let text: Vec<String> = subscripts.iter().map(u32::to_string).collect();
        let index = if text.is_empty() { String::new() } else { format!("[{}]", text.join(", ")) };
        let element = Part {
            path: place.path.iter().copied().chain(subscripts).collect(),
            name: format!("{}{index}", place.name),
            is_field: place.is_field && dims.is_empty(),
        };
        match ty.base {
            BaseType::Record(id) => {
                // A record contains no record of its own type: this ends.
                for (f, field) in records.get(id)?.fields.iter().enumerate() {
                    let path = element.path.iter().copied().chain([f as u32]).collect();
                    let name = format!("{}.{}", element.name, field.name);
                    collect(&field.ty, records, Part { path, name, is_field: element.is_field }, parts)?;
                }
            }
            _ => parts.push(element),
        }
        if parts.len() > MOST_PARTS {
            return None;
        }
    }
    Some(())
}

/// What one step towards a part may be.
enum Step {
    One(u32),
    /// All of these.
    Slice(Vec<u32>),
    /// These, one after the other.
    Each(Vec<u32>),
    All,
    Unknown,
}

/// A part of a variable: `r.b[i]`.
pub(super) struct Selection {
    pub local: LocalId,
    steps: Vec<Step>,
}

impl Selection {
    pub fn all(local: LocalId) -> Selection {
        Selection { local, steps: Vec::new() }
    }

    /// Of `r.b[i]`; `None` if the expression is not a part of a variable.
    pub fn of(expr: &Expr, rounds: &Rounds) -> Option<Selection> {
        let mut nodes = Vec::new();
        let mut current = expr;
        while let ExprKind::Index { base, .. } | ExprKind::Field { base, .. } = &current.kind {
            nodes.push(current);
            current = base;
        }
        let ExprKind::Local(local) = current.kind else { return None };
        let mut steps = Vec::new();
        for node in nodes.into_iter().rev() {
            match &node.kind {
                ExprKind::Field { field, base } => {
                    // Subscripts that are left out are `:`.
                    let given = if matches!(base.kind, ExprKind::Index { .. }) { 0 } else { base.ty.rank() };
                    steps.extend((0..given).map(|_| Step::All));
                    steps.push(Step::One(*field));
                }
                ExprKind::Index { base, subscripts } => {
                    steps.extend(subscripts.iter().map(|s| rounds.step(s)));
                    steps.extend((subscripts.len()..base.ty.rank()).map(|_| Step::All));
                }
                _ => {}
            }
        }
        Some(Selection { local, steps })
    }

    pub fn contains(&self, part: &Part) -> bool {
        self.steps.iter().zip(&part.path).all(|(step, position)| match step {
            Step::One(one) => one == position,
            Step::Slice(several) | Step::Each(several) => several.contains(position),
            Step::All | Step::Unknown => true,
        })
    }

    /// Is everything that it contains certain to be selected, as far as parts are told apart?
    pub fn is_exact(&self, part: &Part) -> bool {
        self.steps.iter().take(part.path.len()).all(|step| matches!(step, Step::One(_) | Step::Slice(_) | Step::All))
    }
}

/// Values of iteration variables, of those whose range is known.
#[derive(Default)]
pub(super) struct Rounds(BTreeMap<LocalId, Vec<i64>>);

impl Rounds {
    pub fn add(&mut self, local: LocalId, range: &Expr) {
        if let Some(values) = values_of(range) {
            self.0.insert(local, values);
        }
    }

    fn step(&self, subscript: &Subscript) -> Step {
        let position = |value: i64| u32::try_from(value).ok();
        match subscript {
            Subscript::All => Step::All,
            Subscript::Slice(e) => match values_of(e) {
                Some(values) => Step::Slice(values.into_iter().filter_map(position).collect()),
                None => Step::Unknown,
            },
            Subscript::Index(e) => match (scalar(e).and_then(position), self.values(e)) {
                (Some(one), _) => Step::One(one),
                (None, Some(values)) => Step::Each(values.into_iter().filter_map(position).collect()),
                (None, None) => Step::Unknown,
            },
        }
    }

    /// Of `i`, `i + 1` and the like.
    fn values(&self, expr: &Expr) -> Option<Vec<i64>> {
        match &expr.kind {
            ExprKind::Local(id) => self.0.get(id).cloned(),
            ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), left, right) => {
                let (values, by) = (self.values(left)?, scalar(right)?);
                let by = if *op == BinaryOp::Add { by } else { by.checked_neg()? };
                values.into_iter().map(|v| v.checked_add(by)).collect()
            }
            _ => None,
        }
    }
}

/// The elements of a range or an array of numbers.
fn values_of(range: &Expr) -> Option<Vec<i64>> {
    match &range.kind {
        ExprKind::Range { start, step: None, stop } => {
            let (first, last) = (scalar(start)?, scalar(stop)?);
            (last.checked_sub(first)? < MOST_ROUNDS).then(|| (first..=last).collect())
        }
        ExprKind::Array(items) => items.iter().map(scalar).collect(),
        _ => None,
    }
}

/// A subscript or a size that is known.
fn scalar(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Integer(value) => Some(*value),
        ExprKind::Boolean(value) => Some(i64::from(*value) + 1),
        ExprKind::EnumLiteral(_, ordinal) => Some(i64::from(*ordinal)),
        ExprKind::Builtin { function: Builtin::Size, arguments } => match arguments.as_slice() {
            [array, dimension] => {
                let d = usize::try_from(scalar(dimension)?).ok()?.checked_sub(1)?;
                i64::try_from(array.ty.dims.get(d)?.known()?).ok()
            }
            _ => None,
        },
        _ => None,
    }
}

/// The ranges of all loops of a function.
pub(super) fn rounds(function: &Function) -> Rounds {
    fn loops(list: &[saltus_flat::Statement], rounds: &mut Rounds) {
        use saltus_flat::StatementKind::{For, If, While};
        for statement in list {
            match &statement.kind {
                For { local, range, body } => {
                    rounds.add(*local, range);
                    loops(body, rounds);
                }
                If { branches, otherwise } => {
                    branches.iter().for_each(|(_, body)| loops(body, rounds));
                    loops(otherwise, rounds);
                }
                While { body, .. } => loops(body, rounds),
                _ => {}
            }
        }
    }
    let mut rounds = Rounds::default();
    loops(&function.body, &mut rounds);
    rounds
}
