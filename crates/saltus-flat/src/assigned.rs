//! Which elements of which variables a `when`-equation or an algorithm sets.
//!
//! In: equations of a `when` branch or statements. Out: an [`Assigned`] set. `x[2] := 1` sets one element, `x := …` all,
//! `x[i] := …` in a loop counts as all: an algorithm that assigns one element owns the elements it may assign.

use std::collections::{BTreeMap, BTreeSet};

use saltus_base::Span;

use crate::{Equation, EquationKind, Expr, ExprKind, FlatModel, Statement, StatementKind, Subscript, VarId};

/// More elements than this of one variable are counted as the whole variable, to bound memory.
const MOST_ELEMENTS: u64 = 4_000_000;

#[derive(Clone, PartialEq, Default, Debug)]
pub struct Assigned {
    variables: BTreeMap<VarId, Elements>,
}

#[derive(Clone, PartialEq, Debug)]
enum Elements {
    All,
    /// Row-major positions, counted from 0.
    Some(BTreeSet<u64>),
}

/// A Real that a `when` sets is discrete even if it is not declared so.
pub fn assigned_in_when(model: &FlatModel) -> BTreeSet<VarId> {
    let mut by_statements = Assigned::default();
    model.algorithms.iter().for_each(|algorithm| by_statements.add_when_statements(model, &algorithm.statements));
    let mut found: BTreeSet<VarId> = by_statements.variables.into_keys().collect();
    add_when_equations(&model.equations, false, &mut found);
    found
}

fn add_when_equations(equations: &[Equation], in_when: bool, found: &mut BTreeSet<VarId>) {
    for equation in equations {
        match &equation.kind {
            EquationKind::When { branches } => {
                branches.iter().for_each(|(_, body)| add_when_equations(body, true, found));
            }
            EquationKind::If { branches, otherwise } => {
                branches.iter().for_each(|(_, body)| add_when_equations(body, in_when, found));
                add_when_equations(otherwise, in_when, found);
            }
            EquationKind::Equality { left, .. } if in_when => add_variables(left, found),
            _ => {}
        }
    }
}

/// The variables of a left side. Those in its subscripts are only read.
fn add_variables(left: &Expr, found: &mut BTreeSet<VarId>) {
    match &left.kind {
        ExprKind::Var(id) => {
            found.insert(*id);
        }
        ExprKind::Index { base, .. } => add_variables(base, found),
        _ => left.for_each_child(&mut |part| add_variables(part, found)),
    }
}

impl Assigned {
    fn add_when_statements(&mut self, model: &FlatModel, statements: &[Statement]) {
        for statement in statements {
            match &statement.kind {
                StatementKind::When { branches } => {
                    branches.iter().for_each(|(_, body)| self.add_statements(model, body));
                }
                StatementKind::If { branches, otherwise } => {
                    branches.iter().for_each(|(_, body)| self.add_when_statements(model, body));
                    self.add_when_statements(model, otherwise);
                }
                StatementKind::For { body, .. } | StatementKind::While { body, .. } => {
                    self.add_when_statements(model, body);
                }
                _ => {}
            }
        }
    }

    pub fn add_statements(&mut self, model: &FlatModel, statements: &[Statement]) {
        for statement in statements {
            match &statement.kind {
                StatementKind::Assign { target, .. } => {
                    self.add_target(model, target);
                }
                StatementKind::If { branches, otherwise } => {
                    branches.iter().for_each(|(_, body)| self.add_statements(model, body));
                    self.add_statements(model, otherwise);
                }
                StatementKind::When { branches } => {
                    branches.iter().for_each(|(_, body)| self.add_statements(model, body));
                }
                StatementKind::For { body, .. } | StatementKind::While { body, .. } => {
                    self.add_statements(model, body);
                }
                StatementKind::Break
                | StatementKind::Return
                | StatementKind::Assert { .. }
                | StatementKind::Terminate { .. }
                | StatementKind::Reinit { .. }
                | StatementKind::Call(_) => {}
            }
        }
    }

    /// Equations of a `when` branch. Returns where a left-hand side is not a variable.
    pub fn add_equations(&mut self, model: &FlatModel, equations: &[Equation]) -> Vec<Span> {
        let mut wrong = Vec::new();
        for equation in equations {
            match &equation.kind {
                EquationKind::Equality { left, .. } => {
                    if !self.add_target(model, left) {
                        wrong.push(equation.span);
                    }
                }
                EquationKind::If { branches, otherwise } => {
                    branches.iter().for_each(|(_, body)| wrong.extend(self.add_equations(model, body)));
                    wrong.extend(self.add_equations(model, otherwise));
                }
                EquationKind::When { branches } => {
                    branches.iter().for_each(|(_, body)| wrong.extend(self.add_equations(model, body)));
                }
                EquationKind::Assert { .. }
                | EquationKind::Terminate { .. }
                | EquationKind::Reinit { .. }
                | EquationKind::Call(_) => {}
            }
        }
        wrong
    }

    /// False if this cannot be assigned to. Locals are not counted.
    fn add_target(&mut self, model: &FlatModel, target: &Expr) -> bool {
        match &target.kind {
            ExprKind::Var(id) => {
                self.variables.insert(*id, Elements::All);
                true
            }
            ExprKind::Index { base, subscripts } => match &base.kind {
                ExprKind::Var(id) => {
                    self.add_elements(*id, selected_elements(model, *id, subscripts));
                    true
                }
                ExprKind::Local(_) => true,
                // `r[i].x` of components: the index chooses one of them, and each may be it.
                ExprKind::Array(_) | ExprKind::Record(_) | ExprKind::Index { .. } | ExprKind::Field { .. } => {
                    self.add_target(model, base)
                }
                _ => false,
            },
            ExprKind::Local(_) => true,
            ExprKind::Field { base, .. } => self.add_target(model, base),
            ExprKind::Tuple(items) => items.iter().flatten().all(|item| self.add_target(model, item)),
            ExprKind::Array(items) | ExprKind::Record(items) => items.iter().all(|item| self.add_target(model, item)),
            ExprKind::Error => true,
            _ => false,
        }
    }

    fn add_elements(&mut self, id: VarId, elements: Option<Vec<u64>>) {
        let entry = self.variables.entry(id).or_insert_with(|| Elements::Some(BTreeSet::new()));
        match (entry, elements) {
            (Elements::All, _) => {}
            (Elements::Some(set), Some(elements)) => set.extend(elements),
            (entry, None) => *entry = Elements::All,
        }
    }

    /// Is an element of the variable set?
    pub fn contains(&self, id: VarId) -> bool {
        self.variables.contains_key(&id)
    }

    /// Row-major positions, from 0, of the elements of a variable that are set; `None` if all may be.
    pub fn elements_of(&self, id: VarId) -> Option<&BTreeSet<u64>> {
        match self.variables.get(&id) {
            Some(Elements::Some(set)) => Some(set),
            _ => None,
        }
    }

    /// Number of scalars; `None` if the size of a variable is not known.
    pub fn n_scalars(&self, model: &FlatModel) -> Option<u64> {
        self.variables.iter().try_fold(0u64, |sum, (id, elements)| {
            let n = match elements {
                Elements::All => model.variables.get(*id)?.ty.n_elements()?,
                Elements::Some(set) => set.len() as u64,
            };
            sum.checked_add(n)
        })
    }

    /// Names of variables of which not the same elements are in both sets.
    pub fn differences(&self, model: &FlatModel, other: &Assigned) -> Vec<String> {
        let ids: BTreeSet<VarId> = self.variables.keys().chain(other.variables.keys()).copied().collect();
        ids.into_iter()
            .filter(|id| self.resolved(model, *id) != other.resolved(model, *id))
            .map(|id| model.variables.get(id).map_or(String::new(), |v| v.name.clone()))
            .collect()
    }

    /// `Some` of every element is the same as `All`.
    fn resolved(&self, model: &FlatModel, id: VarId) -> Option<Elements> {
        let elements = self.variables.get(&id)?;
        let n = model.variables.get(id).and_then(|v| v.ty.n_elements());
        match elements {
            Elements::Some(set) if Some(set.len() as u64) == n => Some(Elements::All),
            _ => Some(elements.clone()),
        }
    }
}

/// Row-major positions that constant subscripts select; `None` if they are not constant (or out of range, which is
/// the message of another rule).
fn selected_elements(model: &FlatModel, id: VarId, subscripts: &[Subscript]) -> Option<Vec<u64>> {
    let dims: Vec<u64> = model.variables.get(id)?.ty.dims.iter().map(|d| d.known()).collect::<Option<_>>()?;
    let mut positions = vec![0u64];
    for (i, &size) in dims.iter().enumerate() {
        let chosen: Vec<u64> = match subscripts.get(i) {
            None | Some(Subscript::All) if size <= MOST_ELEMENTS => (1..=size).collect(),
            None | Some(Subscript::All) => return None,
            Some(Subscript::Index(e)) => vec![constant_subscript(e)?],
            Some(Subscript::Slice(e)) => constant_slice(e)?,
        };
        if chosen.iter().any(|&c| c < 1 || c > size) {
            return None;
        }
        let n = (positions.len() as u64).checked_mul(chosen.len() as u64)?;
        if n > MOST_ELEMENTS {
            return None;
        }
        positions = positions.iter().flat_map(|p| chosen.iter().map(move |c| p * size + c - 1)).collect();
    }
    Some(positions)
}

/// The position (from 1) that a literal subscript selects.
pub fn constant_subscript(e: &Expr) -> Option<u64> {
    match &e.kind {
        ExprKind::Integer(value) => u64::try_from(*value).ok(),
        ExprKind::Boolean(value) => Some(1 + u64::from(*value)),
        ExprKind::EnumLiteral(_, ordinal) => Some(u64::from(*ordinal)),
        ExprKind::Cast(operand) => constant_subscript(operand),
        _ => None,
    }
}

/// The positions that a literal vector or range selects.
pub fn constant_slice(e: &Expr) -> Option<Vec<u64>> {
    match &e.kind {
        ExprKind::Array(items) => items.iter().map(constant_subscript).collect(),
        ExprKind::Range { start, step: None, stop } => {
            let (start, stop) = (constant_subscript(start)?, constant_subscript(stop)?);
            (stop.saturating_sub(start) < MOST_ELEMENTS).then(|| (start..=stop).collect())
        }
        _ => None,
    }
}
