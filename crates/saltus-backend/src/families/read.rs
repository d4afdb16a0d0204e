//! Read families from the flat model: boxes, the elements that they touch, and equations of one element.
//!
//! ```text
//! {C * der(T[i]) for i in 1:n} = {Q[i] - Q[i + 1] for i in 1:n}
//!     ⇒   box 1:n     accesses der(T[i]), Q[i], Q[i + 1]     body C * a0 = a1 - a2
//! ```
//!
//! The body is arithmetic: no relation, no call of a function of the model, no iterator as a number.

use saltus_base::{Index, Span};
use saltus_flat::family::{self, Affine, Counter};
use saltus_flat::{
    BaseType, Builtin, Dim, EquationKind, Expr, ExprKind, FlatModel, LocalId, Subscript, Type, VarId, Variability,
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

/// A family as it stands in the model.
pub struct Family {
    pub source: Source,
    pub counters: Vec<Counter>,
    /// The body refers to them by [`LocalId`]s behind those of the model.
    pub accesses: Vec<Access>,
    /// Scalar variables in the body.
    pub scalars: Vec<VarId>,
    pub left: Expr,
    pub right: Expr,
    pub span: Span,
}

/// All families of the model, with those equations that only might be some left out.
pub fn families(model: &FlatModel) -> Vec<Family> {
    sources(model).filter_map(|source| family(model, source)).collect()
}

fn family(model: &FlatModel, source: Source) -> Option<Family> {
    let (counters, left, right, span) = scalar_form(model, source)?;
    let mut reader = Reader { model, counters: &counters, accesses: Vec::new() };
    let (left, right) = (reader.rewritten(&left)?, reader.rewritten(&right)?);
    let accesses = reader.accesses;
    let mut scalars = Vec::new();
    for side in [&left, &right] {
        side.walk(&mut |e| scalars.extend(if let ExprKind::Var(id) = e.kind { Some(id) } else { None }));
    }
    scalars.sort_unstable();
    scalars.dedup();
    Some(Family { source, counters, accesses, scalars, left, right, span })
}

/// The local that stands for an access in a body.
pub fn local_of(model: &FlatModel, access: usize) -> LocalId {
    LocalId::from_usize(model.iterators.len() + access)
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
