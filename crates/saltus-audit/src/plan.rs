//! What is to be audited: every equation of the flat model, ready for evaluation.
//!
//! In: a flat model. Out: a [`Plan`] of [`Node`]s. An equation that cannot be audited is listed with its reason.

use std::collections::BTreeMap;
use std::sync::Arc;

use saltus_base::{Index as _, Span};
use saltus_flat::assigned::assigned_in_when;
use saltus_flat::{
    BaseType, Builtin, Equation, EquationKind, Expr, ExprKind, FlatModel, FunctionId, Type, VarId, Variability,
};
use saltus_procedure::{Expression, Procedure};

use crate::algorithms;
use crate::places::Places;
use crate::rewrite::{Reason, Rewriter, Special, Specials};
use crate::term::Term;

/// Number of an equation in [`Plan::leaves`].
pub(crate) type LeafId = usize;

/// An equation of which there is one residual, or several of one array.
#[derive(Debug)]
pub(crate) struct Leaf {
    pub span: Span,
    pub component: Arc<str>,
    /// Why it is not audited, if that is known in advance.
    pub reason: Option<Reason>,
    pub is_parameter: bool,
    /// It has a relation that is always taken literally: on the left of an event that may be the new value already.
    pub is_literal: bool,
}

pub(crate) enum Node {
    /// Numbers.
    Equal {
        leaf: LeafId,
        left: Term,
        right: Term,
    },
    /// Anything else: records, Booleans, texts.
    Same {
        leaf: LeafId,
        left: Arc<Expression>,
        right: Arc<Expression>,
    },
    /// `(a, , c) = f(…)`
    Results {
        leaf: LeafId,
        targets: Vec<Option<Arc<Expression>>>,
        function: FunctionId,
        arguments: Vec<Arc<Expression>>,
        span: Span,
    },
    If {
        branches: Vec<(Arc<Expression>, Vec<Node>)>,
        otherwise: Vec<Node>,
    },
    When {
        /// For what keeps its value while no branch is active.
        leaf: LeafId,
        branches: Vec<(Vec<Condition>, Vec<Node>)>,
        /// Now and before.
        kept: Vec<(Arc<Expression>, Arc<Expression>)>,
    },
    Reinit {
        leaf: LeafId,
        state: Arc<Expression>,
        of: VarId,
        value: Arc<Expression>,
    },
    Algorithm(Algorithm),
}

/// An algorithm section as a function of what its variables hold before it.
pub(crate) struct Algorithm {
    pub leaf: LeafId,
    pub function: FunctionId,
    /// In the order of the first inputs and results of the function.
    pub assigned: Vec<VarId>,
    /// Row-major positions of the elements that are assigned, where these are not all; as long as `assigned`.
    pub elements: Vec<Option<std::collections::BTreeSet<u64>>>,
    /// What each holds before: its `pre` value, or its start value.
    pub before: Vec<Arc<Expression>>,
    /// Conditions of `when` statements, which are the other results.
    pub conditions: Vec<usize>,
    pub span: Span,
}

pub(crate) struct Condition {
    pub code: Arc<Expression>,
    /// Where its last value is kept.
    pub memory: usize,
    /// `initial()`
    pub is_initial: bool,
}

pub(crate) struct Plan {
    pub leaves: Vec<Leaf>,
    /// At every point.
    pub always: Vec<Node>,
    /// Values of parameters, start values and initial equations.
    pub initially: Vec<Node>,
    pub specials: Arc<Specials>,
    /// Functions made of algorithms.
    pub procedures: Vec<(FunctionId, Procedure)>,
    /// Discrete variables with `fixed = true`, and what their `pre` values are initially.
    pub given: Vec<(VarId, Arc<Expression>)>,
}

impl Plan {
    pub fn empty() -> Plan {
        let specials = Arc::new(Specials::default());
        let (leaves, always, initially) = (Vec::new(), Vec::new(), Vec::new());
        Plan { leaves, always, initially, specials, procedures: Vec::new(), given: Vec::new() }
    }
}

impl Node {
    /// The equation, if there is just one.
    pub fn single_leaf(&self) -> Option<LeafId> {
        match self {
            Node::Equal { leaf, .. } | Node::Same { leaf, .. } | Node::Results { leaf, .. } => Some(*leaf),
            Node::Algorithm(algorithm) => Some(algorithm.leaf),
            Node::If { .. } | Node::When { .. } | Node::Reinit { .. } => None,
        }
    }
}

/// Equations of these components, `when` clauses apart, are not audited.
fn leave_out(nodes: &mut Vec<Node>, names: &[Arc<str>], leaves: &mut [Leaf]) {
    let is_inside = |component: &str| {
        let is_part = |rest: &str| rest.is_empty() || rest.starts_with(['.', '[']);
        names.iter().any(|name| component.strip_prefix(&**name).is_some_and(is_part))
    };
    nodes.retain_mut(|node| {
        if let Node::If { branches, otherwise } = node {
            branches.iter_mut().for_each(|(_, body)| leave_out(body, names, leaves));
            leave_out(otherwise, names, leaves);
        }
        let Some(leaf) = node.single_leaf().map(|leaf| &mut leaves[leaf]) else { return true };
        let is_left_out = is_inside(&leaf.component);
        if is_left_out {
            leaf.reason = Some("its state is entered as a linear model".to_owned());
        }
        !is_left_out
    });
}

pub(crate) struct Planner<'a> {
    pub model: &'a FlatModel,
    pub places: &'a Places,
    pub specials: Specials,
    pub leaves: Vec<Leaf>,
    pub procedures: Vec<(FunctionId, Procedure)>,
}

pub(crate) fn plan(model: &FlatModel, places: &Places) -> Plan {
    let mut planner =
        Planner { model, places, specials: Specials::default(), leaves: Vec::new(), procedures: Vec::new() };
    let (mut always, mut initially, mut given) = (Vec::new(), Vec::new(), Vec::new());
    let discrete = assigned_in_when(model);
    for (id, variable) in model.variables.iter() {
        let is_parameter = variable.variability <= Variability::Parameter;
        let to = if is_parameter { &mut initially } else { &mut always };
        planner.binding(id, is_parameter, to);
        if !is_parameter {
            planner.start(id, discrete.contains(&id), &mut initially, &mut given);
        }
    }
    model.equations.iter().for_each(|e| planner.equation(e, &mut always));
    model.initial_equations.iter().for_each(|e| planner.equation(e, &mut initially));
    model.algorithms.iter().for_each(|a| algorithms::plan(&mut planner, a, false, &mut always));
    model.initial_algorithms.iter().for_each(|a| algorithms::plan(&mut planner, a, true, &mut initially));
    planner.leave_out_linearized(&mut always);
    let Planner { specials, leaves, procedures, .. } = planner;
    Plan { leaves, always, initially, specials: Arc::new(specials), procedures, given }
}

impl Planner<'_> {
    /// States of machines that are entered as linear models do not fulfil the equations that are written.
    fn leave_out_linearized(&mut self, nodes: &mut Vec<Node>) {
        let linearized = self.model.components.iter().filter(|c| c.treatment.is_linearized);
        let names: Vec<Arc<str>> = linearized.map(|c| c.name.clone()).collect();
        if !names.is_empty() {
            leave_out(nodes, &names, &mut self.leaves);
        }
    }

    pub fn rewriter<'s>(
        specials: &'s mut Specials,
        model: &'s FlatModel,
        is_clocked: &'s dyn Fn(VarId) -> bool,
        is_state: &'s dyn Fn(&str) -> bool,
    ) -> Rewriter<'s> {
        let (locals, has_inner_relation, in_loop) = (BTreeMap::new(), false, false);
        Rewriter { model, specials, locals, is_clocked, is_state, has_inner_relation, in_loop }
    }

    pub fn with_rewriter<T>(&mut self, work: impl FnOnce(&mut Rewriter) -> T) -> T {
        let places = self.places;
        let is_clocked =
            |id: VarId| places.variables.get(id.index()).is_some_and(|p| p.as_ref().is_some_and(|p| p.is_clocked));
        let is_state = |name: &str| places.active.contains_key(name);
        work(&mut Planner::rewriter(&mut self.specials, self.model, &is_clocked, &is_state))
    }

    pub fn leaf(&mut self, span: Span, component: &Arc<str>, reason: Option<Reason>) -> LeafId {
        let component = component.clone();
        self.leaves.push(Leaf { span, component, reason, is_parameter: false, is_literal: false });
        self.leaves.len() - 1
    }

    /// Adds the node unless it cannot be made.
    fn node(
        &mut self,
        span: Span,
        component: &Arc<str>,
        to: &mut Vec<Node>,
        make: impl FnOnce(&mut Rewriter, LeafId) -> Result<Node, Reason>,
    ) {
        let leaf = self.leaf(span, component, None);
        let (made, is_literal) = self.with_rewriter(|rewriter| {
            let made = make(rewriter, leaf);
            (made, rewriter.has_inner_relation)
        });
        self.leaves[leaf].is_literal = is_literal;
        match made {
            Ok(node) => to.push(node),
            Err(reason) => self.leaves[leaf].reason = Some(reason),
        }
    }

    /// `Real x = …;`
    fn binding(&mut self, id: VarId, is_parameter: bool, to: &mut Vec<Node>) {
        let variable = &self.model.variables[id];
        let Some(binding) = &variable.binding else { return };
        // A text or an external object is its declaration.
        if self.places.variables.get(id.index()).is_none_or(Option::is_none) {
            return;
        }
        let left = Expr::new(ExprKind::Var(id), variable.ty.clone(), variable.span);
        let at = if binding.span.is_nowhere() { variable.span } else { binding.span };
        let first = self.leaves.len();
        self.node(at, &variable.name.as_str().into(), to, |r, leaf| equality(r, leaf, &left, binding));
        self.leaves[first..].iter_mut().for_each(|leaf| leaf.is_parameter = is_parameter);
    }

    /// `Real x(start = …, fixed = true);` Of a discrete variable that is its `pre` value.
    fn start(&mut self, id: VarId, is_discrete: bool, to: &mut Vec<Node>, given: &mut Vec<(VarId, Arc<Expression>)>) {
        let variable = &self.model.variables[id];
        let is_fixed = matches!(variable.attributes.fixed.as_ref().map(|f| &f.kind), Some(ExprKind::Boolean(true)));
        let is_real = variable.variability == Variability::Continuous && variable.ty.base == BaseType::Real;
        let is_continuous = is_real && !is_discrete;
        let Some(start) = variable.attributes.start.as_ref().filter(|_| is_fixed) else { return };
        if !is_continuous {
            given.extend(self.with_rewriter(|r| r.code(start)).ok().map(|code| (id, code)));
            return;
        }
        let start = &spread(start, &variable.ty);
        let left = Expr::new(ExprKind::Var(id), variable.ty.clone(), variable.span);
        let at = if start.span.is_nowhere() { variable.span } else { start.span };
        self.node(at, &variable.name.as_str().into(), to, |r, leaf| equality(r, leaf, &left, start));
    }

    fn equation(&mut self, equation: &Equation, to: &mut Vec<Node>) {
        let (span, component) = (equation.span, &equation.component);
        match &equation.kind {
            EquationKind::Equality { left, right } => {
                self.node(span, component, to, |r, leaf| equality(r, leaf, left, right));
            }
            EquationKind::If { branches, otherwise } => self.choice(branches, otherwise, to),
            EquationKind::When { branches } => self.when(equation, branches, to),
            EquationKind::Reinit { state, value } => self.node(span, component, to, |r, leaf| {
                let of = root(state).ok_or("an operand that is not a variable")?;
                Ok(Node::Reinit { leaf, of, state: r.code(state)?, value: r.code(value)? })
            }),
            EquationKind::Call(call) => {
                let reason = self.with_rewriter(|r| r.rewrite(call)).err();
                let reason = reason.unwrap_or_else(|| "a call for its effect".to_owned());
                self.leaf(span, component, Some(reason));
            }
            EquationKind::Assert { .. } | EquationKind::Terminate { .. } => {}
        }
    }

    fn choice(&mut self, branches: &[(Expr, Vec<Equation>)], otherwise: &[Equation], to: &mut Vec<Node>) {
        let first = self.leaves.len();
        let mut made = Vec::new();
        let mut missing = None;
        for (condition, body) in branches {
            let mut nodes = Vec::new();
            body.iter().for_each(|e| self.equation(e, &mut nodes));
            match self.with_rewriter(|r| r.code(condition)) {
                Ok(code) => made.push((code, nodes)),
                Err(reason) => missing = Some(reason),
            }
        }
        let mut last = Vec::new();
        otherwise.iter().for_each(|e| self.equation(e, &mut last));
        self.add_unless(missing, first, Node::If { branches: made, otherwise: last }, to);
    }

    fn when(&mut self, equation: &Equation, branches: &[(Expr, Vec<Equation>)], to: &mut Vec<Node>) {
        let first = self.leaves.len();
        let leaf = self.leaf(equation.span, &equation.component, None);
        let (mut made, mut kept, mut missing) = (Vec::new(), Vec::new(), None);
        for (condition, body) in branches {
            let mut nodes = Vec::new();
            body.iter().for_each(|e| self.equation(e, &mut nodes));
            match self.conditions(condition) {
                Ok(conditions) => made.push((conditions, nodes)),
                Err(reason) => missing = Some(reason),
            }
        }
        if let Some((_, body)) = branches.first() {
            self.kept(body, &mut kept);
        }
        self.add_unless(missing, first, Node::When { leaf, branches: made, kept }, to);
    }

    /// Adds a node with equations inside, unless something is missing: then none of them is audited.
    fn add_unless(&mut self, missing: Option<Reason>, first: LeafId, node: Node, to: &mut Vec<Node>) {
        let Some(reason) = missing else {
            to.push(node);
            return;
        };
        self.leaves[first..].iter_mut().for_each(|leaf| leaf.reason = Some(reason.clone()));
    }

    /// `c` or `{c1, c2, …}`
    pub fn conditions(&mut self, condition: &Expr) -> Result<Vec<Condition>, Reason> {
        if condition.ty.base == BaseType::Clock {
            return Err("it belongs to a clock".to_owned());
        }
        // Entry equations read values of states that are left.
        let mut is_entry = false;
        condition.walk(&mut |e| {
            is_entry |= matches!(&e.kind, ExprKind::Builtin { function: Builtin::ActiveState, .. });
        });
        if is_entry {
            return Err("it belongs to a state machine".to_owned());
        }
        let parts = match &condition.kind {
            ExprKind::Array(items) => items.as_slice(),
            _ if condition.ty.is_scalar() => std::slice::from_ref(condition),
            _ => return Err("a vector of conditions".to_owned()),
        };
        let one = |part: &Expr| {
            self.with_rewriter(|r| {
                let rewritten = r.rewrite(part)?;
                let initial = r.special(Special::Initial, part.ty.clone(), part.span);
                let is_initial = rewritten.kind == initial.kind;
                let code = Arc::new(saltus_procedure::lower_expression(&rewritten));
                Ok(Condition { code, memory: r.condition(), is_initial })
            })
        };
        parts.iter().map(one).collect()
    }

    /// What the equations of a `when` assign, now and before.
    fn kept(&mut self, body: &[Equation], kept: &mut Vec<(Arc<Expression>, Arc<Expression>)>) {
        for equation in body {
            match &equation.kind {
                EquationKind::Equality { left, .. } => {
                    let targets: Vec<&Expr> = match &left.kind {
                        ExprKind::Tuple(items) => items.iter().flatten().collect(),
                        _ => vec![left],
                    };
                    for target in targets {
                        let pair = self.with_rewriter(|r| {
                            let before = r.rewrite_pre(target)?;
                            Ok::<_, Reason>((r.code(target)?, Arc::new(saltus_procedure::lower_expression(&before))))
                        });
                        kept.extend(pair);
                    }
                }
                EquationKind::If { branches, .. } => {
                    branches.first().iter().for_each(|(_, body)| self.kept(body, kept));
                }
                _ => {}
            }
        }
    }
}

/// A scalar holds for all elements of an array.
fn spread(start: &Expr, ty: &Type) -> Expr {
    if ty.is_scalar() || !start.ty.is_scalar() {
        return start.clone();
    }
    let sizes = ty.dims.iter().map(|d| Expr::integer(d.known().unwrap_or(0) as i64, start.span));
    let arguments = std::iter::once(start.clone()).chain(sizes).collect();
    Expr::builtin(Builtin::Fill, arguments, ty.clone(), start.span)
}

/// The variable that an expression is, or an element of which it is.
fn root(expr: &Expr) -> Option<VarId> {
    match &expr.kind {
        ExprKind::Var(id) => Some(*id),
        ExprKind::Index { base, .. } => root(base),
        _ => None,
    }
}

fn equality(rewriter: &mut Rewriter, leaf: LeafId, left: &Expr, right: &Expr) -> Result<Node, Reason> {
    if let ExprKind::Tuple(targets) = &left.kind {
        let ExprKind::Call { function, arguments } = &right.kind else {
            rewriter.rewrite(right)?;
            return Err("a list of results".to_owned());
        };
        let target = |t: &Option<Expr>, r: &mut Rewriter| t.as_ref().map(|t| r.code(t)).transpose();
        return Ok(Node::Results {
            leaf,
            targets: targets.iter().map(|t| target(t, rewriter)).collect::<Result<_, _>>()?,
            function: *function,
            arguments: arguments.iter().map(|a| rewriter.code(a)).collect::<Result<_, _>>()?,
            span: right.span,
        });
    }
    if left.ty.is_numeric() && right.ty.is_numeric() {
        let (left, right) = (rewriter.rewrite(left)?, rewriter.rewrite(right)?);
        return Ok(Node::Equal { leaf, left: Term::of(&left), right: Term::of(&right) });
    }
    Ok(Node::Same { leaf, left: rewriter.code(left)?, right: rewriter.code(right)? })
}
