//! Counting scalar unknowns and equations of a flat model, in total and by component.
//!
//! In: a [`FlatModel`]. Out: a [`Balance`]; `equations == unknowns` is necessary for a model that can be simulated, and
//! the counts by component show where one is missing or too many.
//!
//! ```text
//! Real x[3]; Real y = 1;         unknowns 3 + 1
//! equation
//!   x = f(y);                    equations 3, and 1 for the value of y
//! ```
//!
//! Unknowns are the elements of discrete and continuous variables that are not top-level inputs. A `when` counts the
//! distinct variables it sets, an algorithm those it assigns; `assert`, `reinit` and calls count nothing.
//! (Specification: sections 4.8 balanced models, 8.3.5 `when`, 8.4 single assignment rule, 11.1 algorithms.)

use std::collections::{BTreeMap, HashMap};

use saltus_base::Span;

use crate::assigned::Assigned;
use crate::{
    BaseType, Causality, Component, Equation, EquationKind, Expr, ExprKind, FlatModel, Origin, Type, Variability,
    Variable,
};

#[derive(Clone, PartialEq, Default, Debug)]
pub struct Balance {
    pub equations: u64,
    pub unknowns: u64,
    /// Counts of each component that has any, by name; the top level is the empty name.
    pub components: Vec<ComponentBalance>,
    /// What could not be counted, or does not agree among the branches of an `if` or `when`.
    pub problems: Vec<CountProblem>,
}

impl Balance {
    pub fn is_balanced(&self) -> bool {
        self.equations == self.unknowns && self.problems.is_empty()
    }
}

#[derive(Clone, PartialEq, Default, Debug)]
pub struct ComponentBalance {
    pub name: String,
    pub equations: u64,
    pub unknowns: u64,
}

#[derive(Clone, PartialEq, Debug)]
pub struct CountProblem {
    pub kind: CountProblemKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub enum CountProblemKind {
    /// The size of an array is not known.
    UnknownSize,
    /// Equation counts of the branches of an `if`, the `else` last.
    UnequalIf { counts: Vec<u64> },
    /// Names that one branch of a `when` sets and another does not.
    UnequalWhen { names: Vec<String> },
    /// The left-hand side of an equation in a `when` is not a variable.
    WhenLeftSide,
}

pub fn balance(model: &FlatModel) -> Balance {
    let mut counter = Counter { model, problems: Vec::new(), components: BTreeMap::new() };
    for variable in model.variables.values().filter(|v| is_unknown(v)) {
        counter.variable(variable);
    }
    for equation in &model.equations {
        let n = counter.equation(equation);
        counter.component(&equation.component).equations += n;
    }
    for algorithm in &model.algorithms {
        let mut assigned = Assigned::default();
        assigned.add_statements(model, &algorithm.statements);
        let n = counter.assigned(&assigned, algorithm.span);
        counter.component(&algorithm.component).equations += n;
    }
    let components: Vec<ComponentBalance> = counter.components.into_values().collect();
    Balance {
        equations: components.iter().map(|c| c.equations).sum(),
        unknowns: components.iter().map(|c| c.unknowns).sum(),
        components,
        problems: counter.problems,
    }
}

/// The balance of each of the model's [components](FlatModel::components) by itself, as the specification counts it: what its
/// surroundings determine is an equation of it, and what it determines in the components inside is an unknown. `None` where that
/// cannot be counted.
pub fn local_balances(model: &FlatModel) -> Vec<Option<ComponentBalance>> {
    let mut counter = Counter { model, problems: Vec::new(), components: BTreeMap::new() };
    let owners = Owners::new(model);
    let mut counts: Vec<(u64, u64)> =
        model.components.iter().map(|c| (c.from_outside + c.connections, c.inside)).collect();
    for variable in model.variables.values().filter(|v| varies(v)) {
        let n = counter.size(&variable.ty, variable.span);
        let Some(count) = owners.of(component_of(&variable.name)).and_then(|k| counts.get_mut(k)) else { continue };
        count.0 += if variable.binding.is_some() { n } else { 0 };
        count.1 += n;
    }
    for equation in model.equations.iter().filter(|e| e.origin != Origin::Connection) {
        let n = counter.equation(equation);
        if let Some(count) = owners.of(&equation.component).and_then(|k| counts.get_mut(k)) {
            count.0 += n;
        }
    }
    for algorithm in &model.algorithms {
        let mut assigned = Assigned::default();
        assigned.add_statements(model, &algorithm.statements);
        let n = counter.assigned(&assigned, algorithm.span);
        if let Some(count) = owners.of(&algorithm.component).and_then(|k| counts.get_mut(k)) {
            count.0 += n;
        }
    }
    let is_certain = counter.problems.is_empty();
    let balances = model.components.iter().zip(counts).map(|(component, (equations, unknowns))| {
        let name = component.name.to_string();
        let equations = equations.checked_sub(component.given)?;
        (is_certain && component.is_countable).then_some(ComponentBalance { name, equations, unknowns })
    });
    balances.collect()
}

/// Which component a name belongs to.
pub struct Owners<'a> {
    components: &'a [Component],
    numbers: HashMap<&'a str, usize>,
}

impl<'a> Owners<'a> {
    pub fn new(model: &'a FlatModel) -> Self {
        let components = &model.components;
        Owners { components, numbers: components.iter().enumerate().map(|(k, c)| (&*c.name, k)).collect() }
    }

    /// The innermost model or block that a variable belongs to.
    pub fn around(&self, variable: &str) -> Option<&'a Component> {
        self.of(component_of(variable)).and_then(|k| self.components.get(k))
    }

    /// The number of the innermost model or block that is, or is around, the component of this name; a connector or a record is none.
    fn of(&self, mut name: &str) -> Option<usize> {
        loop {
            match self.numbers.get(name) {
                Some(&k) => return Some(k),
                None if name.is_empty() => return None,
                None => name = component_of(name),
            }
        }
    }
}

/// Does the simulation have to find this variable? An input that the model itself gives a value is one of them.
pub fn is_unknown(variable: &Variable) -> bool {
    varies(variable) && (variable.causality != Causality::Input || variable.binding.is_some())
}

fn varies(variable: &Variable) -> bool {
    matches!(variable.variability, Variability::Discrete | Variability::Continuous)
        && !matches!(
            variable.ty.base,
            BaseType::ExternalObject(_) | BaseType::Function | BaseType::Unit | BaseType::Error
        )
}

/// `a.b[2]` of `a.b[2].c`; dots in quoted identifiers and subscripts do not separate.
pub fn component_of(name: &str) -> &str {
    let (mut quoted, mut escaped, mut nesting, mut dot) = (false, false, 0usize, None);
    for (i, c) in name.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '\'' => quoted = !quoted,
            '[' if !quoted => nesting += 1,
            ']' if !quoted => nesting = nesting.saturating_sub(1),
            '.' if !quoted && nesting == 0 => dot = Some(i),
            _ => {}
        }
    }
    dot.map_or("", |i| &name[..i])
}

/// Number of scalars in a value of this type; `None` if a size is not known.
pub fn n_scalars(model: &FlatModel, ty: &Type) -> Option<u64> {
    // Records cannot contain themselves; the bound protects against a broken model.
    fn count(model: &FlatModel, ty: &Type, depth: u32) -> Option<u64> {
        let elements = ty.n_elements()?;
        let each = match ty.base {
            BaseType::Record(id) => {
                let record = model.records.get(id).filter(|_| depth < 100)?;
                let mut fields = record.fields.iter().map(|f| count(model, &f.ty, depth + 1));
                fields.try_fold(0u64, |sum, n| sum.checked_add(n?))?
            }
            BaseType::Unit => 0,
            _ => 1,
        };
        elements.checked_mul(each)
    }
    count(model, ty, 0)
}

/// Number of scalars in a value. The type of an array of records may leave sizes open that its elements have.
fn scalars_of(model: &FlatModel, e: &Expr) -> Option<u64> {
    n_scalars(model, &e.ty).or_else(|| match &e.kind {
        ExprKind::Array(items) | ExprKind::Record(items) => {
            items.iter().try_fold(0u64, |sum, item| sum.checked_add(scalars_of(model, item)?))
        }
        _ => None,
    })
}

struct Counter<'a> {
    model: &'a FlatModel,
    problems: Vec<CountProblem>,
    components: BTreeMap<String, ComponentBalance>,
}

impl Counter<'_> {
    fn component(&mut self, name: &str) -> &mut ComponentBalance {
        self.components
            .entry(name.to_owned())
            .or_insert_with(|| ComponentBalance { name: name.to_owned(), ..Default::default() })
    }

    fn problem(&mut self, kind: CountProblemKind, span: Span) {
        self.problems.push(CountProblem { kind, span });
    }

    fn variable(&mut self, variable: &Variable) {
        let n = self.size(&variable.ty, variable.span);
        let component = self.component(component_of(&variable.name));
        component.unknowns += n;
        if variable.binding.is_some() {
            component.equations += n;
        }
    }

    fn size(&mut self, ty: &Type, span: Span) -> u64 {
        n_scalars(self.model, ty).unwrap_or_else(|| {
            self.problem(CountProblemKind::UnknownSize, span);
            0
        })
    }

    fn equations(&mut self, equations: &[Equation]) -> u64 {
        equations.iter().map(|e| self.equation(e)).sum()
    }

    fn equation(&mut self, equation: &Equation) -> u64 {
        match &equation.kind {
            EquationKind::Equality { left, right } => self.equality(left, right, equation.span),
            EquationKind::If { branches, otherwise } => {
                let mut counts: Vec<u64> = branches.iter().map(|(_, body)| self.equations(body)).collect();
                counts.push(self.equations(otherwise));
                let first = counts[0];
                if counts.iter().any(|&n| n != first) {
                    self.problem(CountProblemKind::UnequalIf { counts }, equation.span);
                }
                first
            }
            EquationKind::When { branches } => self.when(branches, equation.span),
            EquationKind::Assert { .. }
            | EquationKind::Terminate { .. }
            | EquationKind::Reinit { .. }
            | EquationKind::Call(_) => 0,
        }
    }

    fn equality(&mut self, left: &Expr, right: &Expr, span: Span) -> u64 {
        match &left.kind {
            ExprKind::Tuple(items) => items.iter().flatten().map(|item| self.size(&item.ty, span)).sum(),
            // The side whose sizes are known decides.
            _ => match scalars_of(self.model, left).or_else(|| scalars_of(self.model, right)) {
                Some(n) => n,
                None => self.size(&left.ty, span),
            },
        }
    }

    fn when(&mut self, branches: &[(Expr, Vec<Equation>)], span: Span) -> u64 {
        let mut sets = Vec::new();
        for (_, body) in branches {
            let mut assigned = Assigned::default();
            for wrong in assigned.add_equations(self.model, body) {
                self.problem(CountProblemKind::WhenLeftSide, wrong);
            }
            sets.push(assigned);
        }
        let Some((first, rest)) = sets.split_first() else { return 0 };
        let names: std::collections::BTreeSet<String> =
            rest.iter().flat_map(|other| first.differences(self.model, other)).collect();
        if !names.is_empty() {
            self.problem(CountProblemKind::UnequalWhen { names: names.into_iter().collect() }, span);
        }
        self.assigned(first, span)
    }

    fn assigned(&mut self, assigned: &Assigned, span: Span) -> u64 {
        assigned.n_scalars(self.model).unwrap_or_else(|| {
            self.problem(CountProblemKind::UnknownSize, span);
            0
        })
    }
}
