//! Which families are computed as loops: read from the flat model before anything is lowered.
//!
//! ```text
//! {C * der(T[i]) for i in 1:n} = {Q[i] - Q[i + 1] for i in 1:n}
//!     ⇒   determines der(T[i]); accesses Q[i], Q[i + 1]; body C * a0 = a1 - a2
//! ```
//!
//! A family determines the derivative that occurs in it, or the element that stands alone on one of its sides. It is planned if its body is
//! arithmetic without events, if each element is determined once, and if it needs none of its own elements but those that were computed before.

use std::collections::{BTreeMap, BTreeSet};

use saltus_base::{Index, Span};
use saltus_flat::assigned::{Assigned, assigned_in_when};
use saltus_flat::family::{self, Affine, Counter};
use saltus_flat::uses::{for_each_expr_of_algorithm, for_each_expr_of_equation};
use saltus_flat::{
    BaseType, Builtin, Causality, Dim, EquationKind, Expr, ExprKind, FlatModel, LocalId, Subscript, Type, UnaryOp,
    VarId, Variability,
};
use saltus_program::MOST_DIMENSIONS;

use super::elementwise::{self, structural_value};

/// Fewer elements cost nothing as scalars.
const FEWEST_ELEMENTS: u64 = 64;

/// An element of an array, or its derivative, that depends on the iterators.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    pub variable: VarId,
    pub is_derivative: bool,
    pub subscripts: Vec<Affine>,
}

impl Access {
    /// Row-major position of the element in the first element of the box, and how it moves on in each dimension of it.
    pub fn positions(&self, dims: &[u64], counters: &[Counter]) -> (usize, Vec<i64>) {
        let mut first = 0;
        let mut strides = vec![0; counters.len()];
        for (subscript, &size) in self.subscripts.iter().zip(dims) {
            first = first * size as i64 + subscript.first(counters) - 1;
            for (stride, step) in strides.iter_mut().zip(subscript.steps(counters)) {
                *stride = *stride * size as i64 + step;
            }
        }
        (first as usize, strides)
    }
}

/// Where a family is in the model.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Source {
    /// Position among the equations.
    Equation(usize),
    /// The declaration of a variable.
    Binding(VarId),
}

/// A family that is computed as a loop.
pub struct Planned {
    pub source: Source,
    pub counters: Vec<Counter>,
    /// Of the target first; the body refers to them by [`LocalId`]s behind those of the model.
    pub accesses: Vec<Access>,
    pub left: Expr,
    pub right: Expr,
    pub span: Span,
}

impl Planned {
    pub fn target(&self) -> &Access {
        &self.accesses[0]
    }

    /// How many elements it determines.
    pub fn n_elements(&self) -> usize {
        self.counters.iter().map(|counter| counter.n as usize).product()
    }
}

/// The local that stands for an access in a body.
pub fn local_of(model: &FlatModel, access: usize) -> LocalId {
    LocalId::from_usize(model.iterators.len() + access)
}

pub fn plan(model: &FlatModel) -> Vec<Planned> {
    if model.active_states.is_some() {
        return Vec::new();
    }
    let mut planned: Vec<Planned> = sources(model).filter_map(|source| planned_family(model, source)).collect();
    if planned.is_empty() {
        return planned;
    }
    let excluded = excluded(model, &planned);
    planned.retain(|family| !excluded.contains(&family.target().variable));
    let overlapping = overlapping(model, &planned);
    planned.retain(|family| !overlapping.contains(&family.target().variable));
    let is_fixed = |family: &Planned| is_true(model.variables[family.target().variable].attributes.fixed.as_ref());
    // Which start values are taken where conditions are missing is a question of the whole initial system.
    if has_conditions(model) && planned.iter().any(|family| family.target().is_derivative && !is_fixed(family)) {
        return Vec::new();
    }
    if model.variables.values().any(|v| wants_to_be_state(v.attributes.state_select.as_ref())) {
        return Vec::new();
    }
    planned
}

fn is_true(attribute: Option<&Expr>) -> bool {
    attribute.is_some_and(|e| matches!(e.kind, ExprKind::Boolean(true)))
}

/// Does anything but start values that may be taken say how the simulation begins?
fn has_conditions(model: &FlatModel) -> bool {
    let is_condition = |fixed: &Expr| !matches!(fixed.kind, ExprKind::Boolean(false));
    !model.initial_equations.is_empty()
        || !model.initial_algorithms.is_empty()
        || model
            .variables
            .values()
            .any(|v| v.variability == Variability::Continuous && v.attributes.fixed.as_ref().is_some_and(is_condition))
}

/// A variable that shall be a state may take the place of others.
fn wants_to_be_state(select: Option<&Expr>) -> bool {
    // never, avoid, default, prefer, always
    select.is_some_and(|e| !matches!(e.kind, ExprKind::EnumLiteral(_, 1..=3)))
}

/// Equations with so many elements that they may be families.
pub fn sources(model: &FlatModel) -> impl Iterator<Item = Source> {
    let is_large = |ty: &Type| {
        let n = ty.n_elements().unwrap_or(0);
        ty.base == BaseType::Real
            && (FEWEST_ELEMENTS..=u64::from(u32::MAX)).contains(&n)
            && ty.rank() <= MOST_DIMENSIONS
    };
    let bindings = model
        .variables
        .iter()
        .filter(move |(_, v)| v.binding.is_some() && v.variability == Variability::Continuous && is_large(&v.ty));
    let equations = model.equations.iter().enumerate().filter(move |(_, equation)| match &equation.kind {
        EquationKind::Equality { left, .. } => is_large(&left.ty),
        _ => false,
    });
    bindings.map(|(id, _)| Source::Binding(id)).chain(equations.map(|(k, _)| Source::Equation(k)))
}

/// The equation of one element with its counters.
fn scalar_form(model: &FlatModel, source: Source) -> Option<(Vec<Counter>, Expr, Expr, Span)> {
    let elementwise = |left: &Expr, right: &Expr, span: Span| {
        let counters = elementwise::counters(&left.ty)?;
        let element = |side: &Expr| elementwise::element(model, side, &counters);
        let (left, right) = (element(left)?, element(right)?);
        Some((counters, left, right, span))
    };
    match source {
        Source::Equation(k) => {
            let equation = &model.equations[k];
            let EquationKind::Equality { left, right } = &equation.kind else { return None };
            match family::read(left, right) {
                Some((counters, body)) => Some((counters, body.left.clone(), body.right.clone(), equation.span)),
                None => elementwise(left, right, equation.span),
            }
        }
        Source::Binding(id) => {
            let variable = &model.variables[id];
            let left = Expr::new(ExprKind::Var(id), variable.ty.clone(), variable.span);
            elementwise(&left, variable.binding.as_ref()?, variable.span)
        }
    }
}

fn planned_family(model: &FlatModel, source: Source) -> Option<Planned> {
    let (counters, left, right, span) = scalar_form(model, source)?;
    let mut reader = Reader { model, counters: &counters, accesses: Vec::new() };
    let (left, right) = (reader.rewritten(&left)?, reader.rewritten(&right)?);
    let mut accesses = reader.accesses;
    let alone = |e: &Expr| match e.kind {
        ExprKind::Local(local) => Some(local.index() - model.iterators.len()),
        _ => None,
    };
    let mut derivatives = accesses.iter().enumerate().filter(|(_, a)| a.is_derivative).map(|(k, _)| k);
    let target = match (derivatives.next(), derivatives.next()) {
        (Some(derivative), None) => derivative,
        (None, None) => match source {
            Source::Binding(_) => alone(&left)?,
            Source::Equation(_) => alone(&left).or_else(|| alone(&right))?,
        },
        _ => return None,
    };
    if !may_be_determined(model, source, &accesses[target]) || may_meet(&accesses, &counters) {
        return None;
    }
    // What is constant makes others simpler.
    if accesses.len() == 1 && !accesses[target].is_derivative && [&left, &right].into_iter().all(is_literal) {
        return None;
    }
    let target_alone = !accesses[target].is_derivative && accesses.len() == 2 && is_bare(&left) && is_bare(&right);
    if target_alone && accesses.iter().any(|access| has_wishes(model, access.variable)) {
        return None;
    }
    let (mut left, mut right) = (left, right);
    swap_locals(model, &mut left, target);
    swap_locals(model, &mut right, target);
    accesses.swap(0, target);
    let mut planned = Planned { source, counters, accesses, left, right, span };
    order(&mut planned)?;
    Some(planned)
}

/// Without anything that may have other values.
fn is_literal(e: &Expr) -> bool {
    let mut is_literal = true;
    e.walk(&mut |e| is_literal &= !matches!(e.kind, ExprKind::Var(_) | ExprKind::Time));
    is_literal
}

/// `x` or `-x`
fn is_bare(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Local(_) => true,
        ExprKind::Unary(UnaryOp::Negate, operand) => is_bare(operand),
        _ => false,
    }
}

/// What the attributes of a variable say holds for all that equal it.
fn has_wishes(model: &FlatModel, variable: VarId) -> bool {
    let a = &model.variables[variable].attributes;
    [&a.start, &a.fixed, &a.nominal, &a.min, &a.max, &a.unbounded, &a.state_select].into_iter().any(Option::is_some)
}

/// May two accesses be the same element somewhere in the box? There scalars are simplified further.
fn may_meet(accesses: &[Access], counters: &[Counter]) -> bool {
    let may = |a: &Access, b: &Access| {
        let mut pairs = a.subscripts.iter().zip(&b.subscripts);
        let is_parallel = a.subscripts.iter().zip(&b.subscripts).all(|(a, b)| a.factors == b.factors);
        let are_apart = pairs.any(|(a, b)| {
            let (a, b) = (a.bounds(counters), b.bounds(counters));
            a.1 < b.0 || b.1 < a.0
        });
        a.variable == b.variable && a.is_derivative == b.is_derivative && !is_parallel && !are_apart
    };
    accesses.iter().enumerate().any(|(k, a)| accesses[..k].iter().any(|b| may(a, b)))
}

fn swap_locals(model: &FlatModel, e: &mut Expr, target: usize) {
    let (first, other) = (local_of(model, 0), local_of(model, target));
    if let ExprKind::Local(local) = &mut e.kind {
        *local = if *local == first {
            other
        } else if *local == other {
            first
        } else {
            *local
        };
    }
    e.for_each_child_mut(&mut |child| swap_locals(model, child, target));
}

/// May a family determine this? What starts with other values than others, or shall be a state, is for scalars.
fn may_be_determined(model: &FlatModel, source: Source, access: &Access) -> bool {
    let variable = &model.variables[access.variable];
    variable.ty.base == BaseType::Real
        && variable.variability == Variability::Continuous
        && variable.causality != Causality::Input
        && (variable.binding.is_none() || source == Source::Binding(access.variable))
        && variable.attributes.state_select.is_none()
        && (access.is_derivative || variable.attributes.fixed.is_none())
}

/// Reads the accesses of a body, which becomes an expression of locals.
struct Reader<'m, 'c> {
    model: &'m FlatModel,
    counters: &'c [Counter],
    accesses: Vec<Access>,
}

impl Reader<'_, '_> {
    fn local(&mut self, access: Access, e: &Expr) -> Expr {
        let known = self.accesses.iter().position(|a| *a == access);
        let place = known.unwrap_or_else(|| {
            self.accesses.push(access);
            self.accesses.len() - 1
        });
        Expr::new(ExprKind::Local(local_of(self.model, place)), Type::REAL, e.span)
    }

    fn access(&self, e: &Expr, is_derivative: bool) -> Option<Access> {
        let ExprKind::Index { base, subscripts } = &e.kind else { return None };
        let ExprKind::Var(variable) = base.kind else { return None };
        if base.ty.base != BaseType::Real || subscripts.len() != base.ty.rank() {
            return None;
        }
        let subscripts: Option<Vec<Affine>> = subscripts
            .iter()
            .map(|subscript| match subscript {
                Subscript::Index(e) => family::affine(e, self.counters, &mut |e| structural_value(self.model, e)),
                _ => None,
            })
            .collect();
        let subscripts = subscripts?;
        let is_inside = |(form, size): (&Affine, &Dim)| {
            let (least, greatest) = form.bounds(self.counters);
            least >= 1 && size.known().is_some_and(|size| greatest as u64 <= size)
        };
        let is_inside = subscripts.iter().zip(&base.ty.dims).all(is_inside);
        is_inside.then_some(Access { variable, is_derivative, subscripts })
    }

    /// The body with accesses as locals; `None` if it contains anything but arithmetic on numbers.
    fn rewritten(&mut self, e: &Expr) -> Option<Expr> {
        family::is_arithmetic(e).then(|| self.with_locals(e)).flatten()
    }

    fn with_locals(&mut self, e: &Expr) -> Option<Expr> {
        match &e.kind {
            ExprKind::Index { .. } => {
                let access = self.access(e, false)?;
                return Some(self.local(access, e));
            }
            ExprKind::Builtin { function: Builtin::Der, arguments } => {
                let access = self.access(arguments.first()?, true)?;
                return Some(self.local(access, e));
            }
            _ => {}
        }
        let mut rewritten = e.clone();
        let mut is_complete = true;
        rewritten.for_each_child_mut(&mut |child| match self.with_locals(child) {
            Some(new) => *child = new,
            None => is_complete = false,
        });
        is_complete.then_some(rewritten)
    }
}

/// Lets the box be walked through such that each element finds those of its own family that it needs; `None` if there is no such way.
fn order(planned: &mut Planned) -> Option<()> {
    let target = planned.target().clone();
    let own = planned.accesses.iter().skip(1).filter(|a| a.variable == target.variable && !target.is_derivative);
    let mut directions = BTreeSet::new();
    for access in own {
        match offset(&target, access, &planned.counters) {
            Offset::Apart => {}
            // Zero is the element itself.
            Offset::Ahead(offset) => {
                directions.insert(offset.into_iter().find(|&o| o != 0)? > 0);
            }
            Offset::Unknown => return None,
        }
    }
    match directions.into_iter().collect::<Vec<_>>()[..] {
        [] | [false] => {}
        [true] => planned.counters.iter_mut().for_each(|c| *c = Counter { first: c.last(), step: -c.step, ..*c }),
        _ => return None,
    }
    Some(())
}

/// Where an access to the variable that a family determines is in the box of the family.
enum Offset {
    /// It never is an element of the family.
    Apart,
    /// So many elements ahead in each dimension.
    Ahead(Vec<i64>),
    Unknown,
}

fn offset(target: &Access, access: &Access, counters: &[Counter]) -> Offset {
    let mut offset = vec![0; counters.len()];
    let pairs = || target.subscripts.iter().zip(&access.subscripts);
    let is_apart = |(own, other): (&Affine, &Affine)| {
        let (a, b) = (own.bounds(counters), other.bounds(counters));
        a.1 < b.0 || b.1 < a.0
    };
    if pairs().any(is_apart) {
        return Offset::Apart;
    }
    for (own, other) in pairs() {
        let used: Vec<usize> = (0..counters.len()).filter(|&d| own.factors[d] != 0).collect();
        let difference = other.constant - own.constant;
        match used[..] {
            _ if own.factors != other.factors => return Offset::Unknown,
            [] if difference == 0 => {}
            [d] => {
                let step = own.factors[d] * counters[d].step;
                if difference % step != 0 {
                    return Offset::Apart;
                }
                offset[d] = difference / step;
            }
            _ => return Offset::Unknown,
        }
    }
    Offset::Ahead(offset)
}

/// Variables that something else determines, or looks at in a way that only scalars have.
fn excluded(model: &FlatModel, planned: &[Planned]) -> BTreeSet<VarId> {
    let mut special = Special { model, variables: assigned_in_when(model), differentiated: Vec::new() };
    let mut assigned = Assigned::default();
    for algorithm in model.algorithms.iter().chain(&model.initial_algorithms) {
        assigned.add_statements(model, &algorithm.statements);
        for_each_expr_of_algorithm(algorithm, &mut |e| special.look_at(e));
    }
    let own: BTreeSet<Source> = planned.iter().map(|family| family.source).collect();
    let is_other = |k: usize| !own.contains(&Source::Equation(k));
    let equations = model.equations.iter().enumerate().filter(|(k, _)| is_other(*k)).map(|(_, e)| e);
    for equation in equations.chain(&model.initial_equations) {
        for_each_expr_of_equation(equation, &mut |e| special.look_at(e));
    }
    for (id, variable) in model.variables.iter() {
        let binding = variable.binding.as_ref().filter(|_| !own.contains(&Source::Binding(id)));
        let expressions = binding.into_iter().chain(variable.attributes.iter().map(|(_, e)| e));
        expressions.for_each(|e| special.look_at(e));
    }
    let Special { variables: mut excluded, differentiated, .. } = special;
    for family in planned {
        // A derivative that another family reads has no place of its own in the box.
        excluded.extend(family.accesses.iter().skip(1).filter(|a| a.is_derivative).map(|a| a.variable));
        let target = family.target();
        let reads = |(variable, subscripts): &(VarId, Vec<i64>)| {
            let inside = |(form, &at): (&Affine, &i64)| {
                let (least, greatest) = form.bounds(&family.counters);
                (least..=greatest).contains(&at)
            };
            *variable == target.variable && target.subscripts.iter().zip(subscripts).all(inside)
        };
        if assigned.contains(target.variable) || differentiated.iter().any(reads) {
            excluded.insert(target.variable);
        }
    }
    excluded
}

/// What stands in `der`, `pre` and the like outside of families.
struct Special<'m> {
    model: &'m FlatModel,
    variables: BTreeSet<VarId>,
    /// Elements in `der`, with their subscripts.
    differentiated: Vec<(VarId, Vec<i64>)>,
}

impl Special<'_> {
    fn look_at(&mut self, e: &Expr) {
        e.walk(&mut |e| {
            let ExprKind::Builtin { function, arguments } = &e.kind else { return };
            use Builtin::{Change, Delay, Der, Edge, Pre, Previous, Reinit, Sample, SpatialDistribution};
            match function {
                Der => match arguments.first().and_then(|a| self.element(a)) {
                    Some(element) => self.differentiated.push(element),
                    None => arguments.iter().for_each(|a| self.exclude(a)),
                },
                Change | Delay | Edge | Pre | Previous | Reinit | Sample | SpatialDistribution => {
                    arguments.iter().for_each(|a| self.exclude(a));
                }
                _ => {}
            }
        });
    }

    fn exclude(&mut self, e: &Expr) {
        e.walk(&mut |e| self.variables.extend(if let ExprKind::Var(id) = e.kind { Some(id) } else { None }));
    }

    /// One element of an array, if its subscripts are known.
    fn element(&self, e: &Expr) -> Option<(VarId, Vec<i64>)> {
        let ExprKind::Index { base, subscripts } = &e.kind else { return None };
        let ExprKind::Var(variable) = base.kind else { return None };
        let known = |subscript: &Subscript| match subscript {
            Subscript::Index(e) => {
                family::affine(e, &[], &mut |e| structural_value(self.model, e)).map(|form| form.constant)
            }
            _ => None,
        };
        Some((variable, subscripts.iter().map(known).collect::<Option<Vec<i64>>>()?))
    }
}

/// Variables of which an element is determined twice, or is a state here and not one there.
fn overlapping(model: &FlatModel, planned: &[Planned]) -> BTreeSet<VarId> {
    let mut taken: BTreeMap<VarId, Vec<bool>> = BTreeMap::new();
    let mut overlapping = BTreeSet::new();
    for family in planned {
        let target = family.target();
        let ty = &model.variables[target.variable].ty;
        let dims: Vec<u64> = ty.dims.iter().filter_map(|d| d.known()).collect();
        let n = dims.iter().product::<u64>() as usize;
        let taken = taken.entry(target.variable).or_insert_with(|| vec![false; n]);
        let (first, strides) = target.positions(&dims, &family.counters);
        for element in super::walk(first, &strides, &super::sizes(&family.counters)) {
            match taken.get_mut(element) {
                Some(place) if !*place => *place = true,
                _ => {
                    overlapping.insert(target.variable);
                    break;
                }
            }
        }
    }
    overlapping
}
