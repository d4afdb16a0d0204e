//! Which unknowns each equation could determine.
//!
//! In: a flat model. Out: a [`Graph`] with the origin of its nodes. A variable and its derivative are one unknown, as
//! for finding the index (Pantelides 1988); what stands in `pre` is known; a `when` and an algorithm determine what they
//! assign; an equation between Integers or Booleans determines Integers and Booleans only. Conditions of
//! `if`-equations determine nothing.

use saltus_base::{Index, Span};
use saltus_flat::assigned::Assigned;
use saltus_flat::count::{is_unknown, n_scalars};
use saltus_flat::{
    Algorithm, BaseType, Builtin, Equation, EquationKind, Expr, ExprKind, FlatModel, VarId, Variability,
};

use super::matching::Graph;
use crate::targets;
use crate::walk;

/// Where a node of the graph comes from.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    Binding(VarId),
    Equation(&'a Equation),
    Algorithm(&'a Algorithm),
}

pub struct Incidence<'a> {
    pub graph: Graph,
    pub sources: Vec<Source<'a>>,
    pub unknowns: Vec<VarId>,
    model: &'a FlatModel,
    number: Vec<Option<u32>>,
    /// The last equation that has seen an unknown, to have each edge once.
    seen: Vec<u32>,
    /// An error was reported already; counting would only repeat it.
    pub is_broken: bool,
}

impl<'a> Incidence<'a> {
    pub fn build(model: &'a FlatModel) -> Incidence<'a> {
        let mut this = Incidence {
            graph: Graph::default(),
            sources: Vec::new(),
            unknowns: Vec::new(),
            model,
            number: vec![None; model.variables.len()],
            seen: Vec::new(),
            is_broken: false,
        };
        for (id, variable) in model.variables.iter().filter(|(_, v)| is_unknown(v)) {
            match variable.ty.n_elements() {
                Some(0) => {}
                Some(size) => this.add_unknown(id, size),
                None => this.is_broken = true,
            }
        }
        for (id, variable) in model.variables.iter().filter(|(_, v)| is_unknown(v)) {
            if let (Some(binding), Some(size)) = (&variable.binding, variable.ty.n_elements()) {
                let equation = this.add_equation(Source::Binding(id), size);
                this.add_edge(equation, id);
                this.add_expression(equation, binding, variable.ty.base);
            }
        }
        for equation in &model.equations {
            this.add_one(equation);
        }
        for algorithm in &model.algorithms {
            this.add_algorithm(algorithm);
        }
        this
    }

    pub fn span(&self, equation: u32) -> Span {
        match self.sources.get(equation as usize) {
            Some(Source::Binding(id)) => {
                let variable = self.model.variables.get(*id);
                let binding = variable.and_then(|v| v.binding.as_ref()).map(|b| b.span);
                let declared = variable.map_or(Span::nowhere(), |v| v.span);
                binding.filter(|b| !b.is_nowhere()).unwrap_or(declared)
            }
            Some(Source::Equation(equation)) => equation.span,
            Some(Source::Algorithm(algorithm)) => algorithm.span,
            None => Span::nowhere(),
        }
    }

    fn add_unknown(&mut self, id: VarId, size: u64) {
        self.number[id.index()] = Some(self.unknowns.len() as u32);
        self.unknowns.push(id);
        self.seen.push(u32::MAX);
        self.graph.unknown_sizes.push(size);
    }

    fn add_equation(&mut self, source: Source<'a>, size: u64) -> u32 {
        self.sources.push(source);
        self.graph.equation_sizes.push(size);
        self.sources.len() as u32 - 1
    }

    fn add_edge(&mut self, equation: u32, id: VarId) {
        if let Some(Some(unknown)) = self.number.get(id.index()).copied()
            && self.seen[unknown as usize] != equation
        {
            self.seen[unknown as usize] = equation;
            self.graph.edges.push((equation, unknown));
        }
    }

    fn add_one(&mut self, equation: &'a Equation) {
        let Some(size) = self.size(equation) else {
            self.is_broken = true;
            return;
        };
        if size > 0 {
            let number = self.add_equation(Source::Equation(equation), size);
            self.add_unknowns_of(number, equation);
        }
    }

    /// Number of scalar equations, of the first branch where there are several.
    fn size(&self, equation: &Equation) -> Option<u64> {
        match &equation.kind {
            EquationKind::Equality { left, right } => match &left.kind {
                ExprKind::Tuple(items) => {
                    items.iter().flatten().try_fold(0u64, |sum, i| sum.checked_add(n_scalars(self.model, &i.ty)?))
                }
                _ => n_scalars(self.model, &left.ty).or_else(|| n_scalars(self.model, &right.ty)),
            },
            EquationKind::If { branches, .. } => {
                let (_, body) = branches.first()?;
                body.iter().try_fold(0u64, |sum, e| sum.checked_add(self.size(e)?))
            }
            EquationKind::When { branches } => {
                let mut assigned = Assigned::default();
                assigned.add_equations(self.model, &branches.first()?.1);
                assigned.n_scalars(self.model)
            }
            _ => Some(0),
        }
    }

    fn add_unknowns_of(&mut self, number: u32, equation: &Equation) {
        match &equation.kind {
            EquationKind::Equality { left, right } => {
                let base = if matches!(left.kind, ExprKind::Tuple(_)) { BaseType::Error } else { left.ty.base };
                self.add_expression(number, left, base);
                self.add_expression(number, right, base);
            }
            EquationKind::If { branches, otherwise } => {
                for inner in branches.iter().flat_map(|(_, body)| body).chain(otherwise) {
                    self.add_unknowns_of(number, inner);
                }
            }
            EquationKind::When { branches } => {
                branches.iter().for_each(|(_, body)| self.add_when_targets(number, body));
            }
            _ => {}
        }
    }

    fn add_when_targets(&mut self, number: u32, list: &[Equation]) {
        for equation in list {
            match &equation.kind {
                EquationKind::Equality { left, .. } => {
                    let mut found = Vec::new();
                    targets::collect(self.model, left, &mut found);
                    found.iter().for_each(|t| self.add_edge(number, t.variable));
                }
                EquationKind::If { branches, otherwise } => {
                    branches.iter().for_each(|(_, body)| self.add_when_targets(number, body));
                    self.add_when_targets(number, otherwise);
                }
                EquationKind::When { branches } => {
                    branches.iter().for_each(|(_, body)| self.add_when_targets(number, body));
                }
                _ => {}
            }
        }
    }

    fn add_algorithm(&mut self, algorithm: &'a Algorithm) {
        let mut assigned = Assigned::default();
        assigned.add_statements(self.model, &algorithm.statements);
        let Some(size) = assigned.n_scalars(self.model) else {
            self.is_broken = true;
            return;
        };
        if size == 0 {
            return;
        }
        let number = self.add_equation(Source::Algorithm(algorithm), size);
        let mut found = Vec::new();
        targets::assigned(self.model, &algorithm.statements, false, &mut found);
        found.iter().for_each(|(t, _)| self.add_edge(number, t.variable));
        // What an algorithm computes in continuous time it may also be solved for (11.1).
        let is_continuous = |(t, in_when): &(targets::Target, bool)| {
            let variable = self.model.variables.get(t.variable);
            !in_when && variable.is_some_and(|v| v.ty.base == BaseType::Real && v.variability > Variability::Discrete)
        };
        if found.iter().any(is_continuous) {
            let place = walk::Place { section: walk::Section::Algorithm, in_when: false };
            let mut read = Vec::new();
            walk::statements(&algorithm.statements, place, &mut |e, place| {
                if !place.in_when {
                    read.push(e);
                }
            });
            read.into_iter().for_each(|e| self.add_expression(number, e, BaseType::Real));
        }
    }

    /// Adds the unknowns of one side of an equation with this base type.
    fn add_expression(&mut self, number: u32, root: &Expr, base: BaseType) {
        let is_real = base == BaseType::Real;
        let is_any = matches!(base, BaseType::Record(_) | BaseType::Error);
        walk::for_each_part_while(root, &mut |part| match &part.kind {
            ExprKind::Error => {
                self.is_broken = true;
                false
            }
            ExprKind::Builtin { function, .. } => !matches!(
                function,
                Builtin::Pre | Builtin::Edge | Builtin::Change | Builtin::Size | Builtin::Ndims | Builtin::Previous
            ),
            ExprKind::Var(id) => {
                if is_any || is_real == (part.ty.base == BaseType::Real) {
                    self.add_edge(number, *id);
                }
                false
            }
            _ => true,
        });
    }
}
