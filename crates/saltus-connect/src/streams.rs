//! Streams: what `inStream` and `actualStream` stand for, and the equations of outside stream variables
//! (specification chapter 15).
//!
//! ```text
//! connect(a.port, b.port);        inStream(a.port.h)  ⇒  b.port.h
//! three components joined         inStream(a.port.h)  ⇒  (max(-b.m, eps)*b.h + max(-c.m, eps)*c.h)
//!                                                        / (max(-b.m, eps) + max(-c.m, eps))
//! connect(port, a.port);          port.h = a.port.h;      inStream(a.port.h)  ⇒  inStream(port.h)
//! ```
//!
//! `eps` is [`FLOW_TOLERANCE`] times the smallest nominal flow: the mixture is continuous in all flows, it is the mean
//! value when nothing flows, and the balance holds up to that relative error otherwise. Members that cannot flow into
//! the mixing point (`min >= 0` inside, `max <= 0` outside) take no part.

use std::collections::{BTreeMap, HashMap, HashSet};

use saltus_base::{Diagnostics, Span};
use saltus_flat::{BaseType, BinaryOp, Builtin, Dim, Expr, ExprKind, Type, UnaryOp, VarId};

use crate::check::span_of;
use crate::end::{reference, text, type_of};
use crate::equations::{Term, binary, sum, zero};
use crate::sets::{Connect, Set};
use crate::{End, Face, Kind, Variables};

/// Relative size of the flows below which mixing is regularised. Above the tolerance of nonlinear solvers, below the
/// accuracy that anyone asks of a simulation.
pub const FLOW_TOLERANCE: f64 = 1e-8;

/// Larger mixtures than this many values are refused: they come from loops through the levels of a model.
const MOST_VALUES: u64 = 10_000;
/// Deeper hierarchies than this do not exist.
const MOST_LEVELS: usize = 200;

/// Answers `inStream` and `actualStream` once all connections are known.
#[derive(Default, Debug)]
pub struct StreamTable {
    sets: Vec<Vec<End>>,
    set_of: HashMap<End, usize>,
    /// Arrays that are connected element by element from outside their component, with the connected elements.
    split: BTreeMap<VarId, Vec<u64>>,
    /// Inside ends whose value has no finite expression; reported already.
    endless: HashSet<End>,
}

/// Which members of a connection set determine a value that is asked for.
enum Mixture {
    /// Nothing can flow in.
    Nothing,
    One(End),
    Several(Vec<End>),
}

impl StreamTable {
    pub(crate) fn new(
        sets: &[Set],
        connects: &[Connect],
        vars: &dyn Variables,
        diagnostics: &mut Diagnostics,
    ) -> StreamTable {
        let mut table = StreamTable::default();
        let is_stream =
            |set: &&Set| set.members.first().is_some_and(|m| matches!(vars.kind(m.end.var), Kind::Stream { .. }));
        for set in sets.iter().filter(is_stream) {
            table.add_set(set.members.iter().map(|m| m.end).collect());
        }
        let mut sizes = Sizes { table: &table, vars, known: HashMap::new() };
        let mut endless = HashSet::new();
        for set in sets.iter().filter(is_stream) {
            for member in set.members.iter().filter(|m| m.end.face == Face::Inside) {
                if sizes.of(member.end, 0).is_none() {
                    let span = span_of(member.connect.or(set.connect), connects);
                    diagnostics.push(crate::diagnostics::endless_stream(&text(vars, member.end), span));
                    endless.insert(member.end);
                }
            }
        }
        table.endless = endless;
        table
    }

    fn add_set(&mut self, members: Vec<End>) {
        for &end in &members {
            self.set_of.insert(end, self.sets.len());
            if let (Face::Inside, Some(element)) = (end.face, end.element) {
                self.split.entry(end.var).or_default().push(element);
            }
        }
        self.sets.push(members);
    }

    /// `inStream(var)` or of one element (row-major, from 0): the value if the flow goes into the component. A stream
    /// variable that is not connected gives its own value; so does a variable that is not a stream variable.
    pub fn in_stream(&self, vars: &dyn Variables, var: VarId, element: Option<u64>, span: Span) -> Expr {
        let ty = vars.ty(var);
        let element = element.filter(|_| !ty.is_scalar());
        if element.is_none() && self.split.contains_key(&var) {
            return array_of(&ty.dims, ty.base, &mut 0, span, &mut |k| self.in_stream(vars, var, Some(k), span));
        }
        let own = || reference(vars, var, element, span);
        let asked = End { var, element, face: Face::Inside };
        let Some(end) = self.member(asked) else { return own() };
        if self.endless.contains(&end) {
            return Expr::error(span);
        }
        self.mixed(vars, end, element, span).unwrap_or_else(own)
    }

    /// `actualStream(var)`: the value for the present direction of the flow. Jumps when the flow turns around, and
    /// thus makes an event.
    pub fn actual_stream(&self, vars: &dyn Variables, var: VarId, element: Option<u64>, span: Span) -> Expr {
        let own = reference(vars, var, element, span);
        let Kind::Stream { flow } = vars.kind(var) else { return own };
        if vars.flow_max(flow).is_some_and(|max| max <= 0.0) {
            return own;
        }
        let other = self.in_stream(vars, var, element, span);
        if vars.flow_min(flow).is_some_and(|min| min > 0.0) {
            return other;
        }
        by_direction(vars, flow, other, own, span)
    }

    /// The right-hand side of the equation of an outside stream variable; `None` if it is in no set.
    pub(crate) fn outflow(&self, vars: &dyn Variables, end: End, span: Span) -> Option<Expr> {
        self.set_of.get(&end)?;
        let nothing = || zero(&type_of(vars, end.var, end.element), span);
        Some(self.mixed(vars, end, end.element, span).unwrap_or_else(nothing))
    }

    /// The member of a set that speaks for `end`: itself, or the whole array it is an element of.
    fn member(&self, end: End) -> Option<End> {
        [end, End { element: None, ..end }].into_iter().find(|end| self.set_of.contains_key(end))
    }

    /// The value at the mixing point if the flow goes from there to `end`, which is a member of a set; `part` selects
    /// an element if the members are whole arrays. `None` if nothing can flow in.
    fn mixed(&self, vars: &dyn Variables, end: End, part: Option<u64>, span: Span) -> Option<Expr> {
        let value = |from: End| match from.face {
            Face::Inside => reference(vars, from.var, from.element.or(part), span),
            Face::Outside => self.in_stream(vars, from.var, from.element.or(part), span),
        };
        match self.mixture(vars, end) {
            Mixture::Nothing => None,
            Mixture::One(from) => Some(value(from)),
            Mixture::Several(from) => {
                let eps = smallest_flow(vars, &from);
                let weights: Vec<Expr> = from.iter().map(|&from| weight(vars, from, eps, span)).collect();
                let ty = type_of(vars, end.var, end.element.or(part));
                let carried = weights.iter().cloned().zip(from).map(|(weight, from)| Term {
                    is_negative: false,
                    value: binary(BinaryOp::Mul, weight, value(from), ty.clone(), span),
                });
                let total = sum(carried.collect(), &ty, span);
                let weights = weights.into_iter().map(|value| Term { is_negative: false, value }).collect();
                Some(binary(BinaryOp::Div, total, sum(weights, &Type::REAL, span), ty, span))
            }
        }
    }

    fn mixture(&self, vars: &dyn Variables, end: End) -> Mixture {
        let members = self.set_of.get(&end).and_then(|&i| self.sets.get(i)).map_or(&[][..], Vec::as_slice);
        let others: Vec<End> = members.iter().copied().filter(|&m| m != end).collect();
        // One-to-one connections are exact without looking at limits: no mixing, no regularisation.
        if let [other] = others[..] {
            return Mixture::One(other);
        }
        let contributors: Vec<End> = others.into_iter().filter(|&m| can_flow_in(vars, m)).collect();
        match contributors[..] {
            [] => Mixture::Nothing,
            [one] => Mixture::One(one),
            _ => Mixture::Several(contributors),
        }
    }
}

/// How many values the expression for an inside end contains, and over how many levels: finite before it is written out.
struct Sizes<'a> {
    table: &'a StreamTable,
    vars: &'a dyn Variables,
    /// `None` while an end is being looked at, and for ends without a finite value.
    known: HashMap<End, Option<(u64, usize)>>,
}

impl Sizes<'_> {
    fn of(&mut self, end: End, level: usize) -> Option<(u64, usize)> {
        if let Some(&known) = self.known.get(&end) {
            return known;
        }
        if level > MOST_LEVELS {
            return None;
        }
        self.known.insert(end, None);
        let sources = match self.table.mixture(self.vars, end) {
            Mixture::Nothing => Vec::new(),
            Mixture::One(from) => vec![from],
            Mixture::Several(from) => from,
        };
        let mut total = Some((1, 0));
        for from in sources.into_iter().filter(|from| from.face == Face::Outside) {
            for above in self.above(from) {
                total = add_sizes(total, self.of(above, level + 1));
            }
        }
        self.known.insert(end, total);
        total
    }

    /// The members that `inStream` of an outside end refers to, one level higher.
    fn above(&self, outside: End) -> Vec<End> {
        let end = End { face: Face::Inside, ..outside };
        match (end.element, self.table.split.get(&end.var)) {
            (None, Some(elements)) => elements.iter().map(|&k| end.at(k)).collect(),
            _ => self.table.member(end).into_iter().collect(),
        }
    }
}

fn add_sizes(total: Option<(u64, usize)>, above: Option<(u64, usize)>) -> Option<(u64, usize)> {
    let ((n, levels), (more, higher)) = (total?, above?);
    let sum = (n.saturating_add(more), levels.max(higher + 1));
    (sum.0 <= MOST_VALUES && sum.1 <= MOST_LEVELS).then_some(sum)
}

/// Whether matter can come from this member into the mixing point.
fn can_flow_in(vars: &dyn Variables, end: End) -> bool {
    let Kind::Stream { flow } = vars.kind(end.var) else { return true };
    match end.face {
        Face::Inside => vars.flow_min(flow).is_none_or(|min| min < 0.0),
        Face::Outside => vars.flow_max(flow).is_none_or(|max| max > 0.0),
    }
}

/// `max(-m_flow, eps)` of an inside, `max(m_flow, eps)` of an outside member: what flows into the mixing point.
fn weight(vars: &dyn Variables, end: End, eps: f64, span: Span) -> Expr {
    let Kind::Stream { flow } = vars.kind(end.var) else { return Expr::real(eps, span) };
    let flow = reference(vars, flow, None, span);
    let inflow = match end.face {
        Face::Inside => Expr::new(ExprKind::Unary(UnaryOp::Negate, Box::new(flow)), Type::REAL, span),
        Face::Outside => flow,
    };
    Expr::builtin(Builtin::Max, vec![inflow, Expr::real(eps, span)], Type::REAL, span)
}

fn smallest_flow(vars: &dyn Variables, members: &[End]) -> f64 {
    let nominal = |end: &End| match vars.kind(end.var) {
        Kind::Stream { flow } => vars.flow_nominal(flow).map(f64::abs).filter(|n| n.is_finite() && *n > 0.0),
        _ => None,
    };
    FLOW_TOLERANCE * members.iter().map(|end| nominal(end).unwrap_or(1.0)).fold(f64::INFINITY, f64::min)
}

/// `if m_flow > 0 then inflow else outflow`
fn by_direction(vars: &dyn Variables, flow: VarId, inflow: Expr, outflow: Expr, span: Span) -> Expr {
    let condition =
        binary(BinaryOp::Greater, reference(vars, flow, None, span), Expr::real(0.0, span), Type::BOOLEAN, span);
    let ty = outflow.ty.clone();
    let kind = ExprKind::If { condition: Box::new(condition), then: Box::new(inflow), otherwise: Box::new(outflow) };
    Expr::new(kind, ty, span)
}

/// `{{…}, …}` with the given sizes; `element` is asked for each row-major position in order.
fn array_of(dims: &[Dim], base: BaseType, next: &mut u64, span: Span, element: &mut dyn FnMut(u64) -> Expr) -> Expr {
    let Some((size, inner)) = dims.split_first() else {
        let value = element(*next);
        *next += 1;
        return value;
    };
    let items = (0..size.known().unwrap_or(0)).map(|_| array_of(inner, base, next, span, element)).collect();
    Expr::new(ExprKind::Array(items), Type::array(base, dims), span)
}
