//! Expressions as the evaluator can take them: what only a simulation knows becomes a variable of the audit.
//!
//! ```text
//! der(x) = if x > pre(y) then -x*time else 0     ⇒     $1 = if $2 then -x*$3 else 0
//!                                                      $1: derivative of x,  $2: relation x > $4,  $3: time,  $4: pre(y)
//! ```
//!
//! In: an expression of the flat model. Out: one without events, derivatives and time, or why it cannot be audited.

use std::collections::BTreeMap;
use std::sync::Arc;

use saltus_base::{Index as _, Span};
use saltus_flat::{
    BaseType, BinaryOp, Builtin, Expr, ExprKind, FlatModel, Iterator, LocalId, Subscript, Type, VarId, Variability,
};
use saltus_procedure::{Expression, lower_expression};

use crate::term::Term;

/// Why something is not audited.
pub(crate) type Reason = String;

/// What a variable of the audit stands for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Special {
    Time,
    Initial,
    Terminal,
    Derivative(VarId),
    Pre(VarId),
    Held(usize),
    Sample(usize),
    /// Was the condition of a `when` true before?
    WasTrue(usize),
    /// `activeState(s)` of a state of a machine of continuous time.
    Active(String),
}

/// A relation, or the rounding of a number: its value changes at events only.
#[derive(Debug)]
pub(crate) struct Held {
    pub kind: HeldKind,
    pub left: Arc<Term>,
    /// Of relations and quotients.
    pub right: Option<Arc<Term>>,
    /// Does it keep its value between events? Under `noEvent` and `smooth` it does not.
    pub keeps: bool,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum HeldKind {
    Relation(BinaryOp),
    Floor,
    Ceil,
    /// `integer(x)`: the floor as an Integer.
    Integer,
    /// The quotient of two numbers towards zero.
    Div,
}

pub(crate) struct Sample {
    pub start: Arc<Expression>,
    pub interval: Arc<Expression>,
}

/// What the expressions of the audit refer to beyond the variables of the model.
#[derive(Default)]
pub(crate) struct Specials {
    pub all: Vec<Special>,
    known: BTreeMap<Special, VarId>,
    pub held: Vec<Held>,
    pub samples: Vec<Sample>,
    pub n_conditions: usize,
}

#[derive(Clone, Copy)]
struct Context {
    /// Inside of `pre`.
    is_pre: bool,
    /// Relations make events here.
    has_events: bool,
    /// Iteration variables may occur: nothing can be taken out.
    is_bound: bool,
}

pub(crate) struct Rewriter<'a> {
    pub model: &'a FlatModel,
    pub specials: &'a mut Specials,
    /// Variables of an algorithm that are locals of the function made of it.
    pub locals: BTreeMap<VarId, LocalId>,
    /// Variables that belong to a clocked partition.
    pub is_clocked: &'a dyn Fn(VarId) -> bool,
    /// States of machines of continuous time.
    pub is_state: &'a dyn Fn(&str) -> bool,
    /// There is a relation whose value of the last event is not kept: it compares what an algorithm computes, or stands in a loop.
    pub has_inner_relation: bool,
    /// Inside of a loop of an algorithm.
    pub in_loop: bool,
}

impl Rewriter<'_> {
    pub fn rewrite(&mut self, expr: &Expr) -> Result<Expr, Reason> {
        self.expr(expr, Context { is_pre: false, has_events: true, is_bound: self.in_loop })
    }

    /// With all variables as they were before the event round.
    pub fn rewrite_pre(&mut self, expr: &Expr) -> Result<Expr, Reason> {
        self.expr(expr, Context { is_pre: true, has_events: true, is_bound: self.in_loop })
    }

    pub fn code(&mut self, expr: &Expr) -> Result<Arc<Expression>, Reason> {
        Ok(Arc::new(lower_expression(&self.rewrite(expr)?)))
    }

    /// A reference to a variable of the audit.
    pub fn special(&mut self, special: Special, ty: Type, span: Span) -> Expr {
        let (n_variables, specials) = (self.model.variables.len(), &mut *self.specials);
        let id = *specials.known.entry(special.clone()).or_insert_with(|| {
            specials.all.push(special);
            VarId::from_usize(n_variables + specials.all.len() - 1)
        });
        Expr::new(ExprKind::Var(id), ty, span)
    }

    /// The memory of a condition of a `when`.
    pub fn condition(&mut self) -> usize {
        self.specials.n_conditions += 1;
        self.specials.n_conditions - 1
    }

    fn expr(&mut self, expr: &Expr, context: Context) -> Result<Expr, Reason> {
        match &expr.kind {
            ExprKind::Var(id) => self.variable(*id, expr, context),
            ExprKind::Time => Ok(self.special(Special::Time, Type::REAL, expr.span)),
            ExprKind::Builtin { function, arguments } => self.builtin(*function, arguments, expr, context),
            ExprKind::Binary(op, left, right) if is_relation(*op) && is_number(left) => {
                self.relation(*op, left, right, expr, context)
            }
            ExprKind::Reduction { op, body, iterators } if !iterators.is_empty() => {
                let bound = Context { is_bound: true, ..context };
                let mut rewritten = Vec::with_capacity(iterators.len());
                for (k, iterator) in iterators.iter().enumerate() {
                    // The first range is evaluated once, the others may depend on iterators.
                    let range = self.expr(&iterator.range, if k == 0 { context } else { bound })?;
                    rewritten.push(Iterator { local: iterator.local, range });
                }
                let body = Box::new(self.expr(body, bound)?);
                let kind = ExprKind::Reduction { op: *op, body, iterators: rewritten };
                Ok(Expr::new(kind, expr.ty.clone(), expr.span))
            }
            ExprKind::Error => Err("an erroneous expression".to_owned()),
            _ => self.children(expr, context),
        }
    }

    /// The same expression of rewritten parts.
    fn children(&mut self, expr: &Expr, context: Context) -> Result<Expr, Reason> {
        let mut copy = expr.clone();
        let mut found = Ok(());
        copy.for_each_child_mut(&mut |child| {
            if found.is_ok() {
                match self.expr(child, context) {
                    Ok(new) => *child = new,
                    Err(reason) => found = Err(reason),
                }
            }
        });
        found.map(|()| copy)
    }

    fn variable(&mut self, id: VarId, expr: &Expr, context: Context) -> Result<Expr, Reason> {
        if (self.is_clocked)(id) {
            return Err("it belongs to a clock".to_owned());
        }
        let is_fast = self.model.variables.get(id).is_some_and(|v| v.variability > Variability::Parameter);
        match self.locals.get(&id) {
            _ if context.is_pre && is_fast => Ok(self.special(Special::Pre(id), expr.ty.clone(), expr.span)),
            Some(&local) => Ok(Expr::new(ExprKind::Local(local), expr.ty.clone(), expr.span)),
            None => Ok(expr.clone()),
        }
    }

    fn builtin(
        &mut self,
        function: Builtin,
        arguments: &[Expr],
        expr: &Expr,
        context: Context,
    ) -> Result<Expr, Reason> {
        use Builtin::*;
        match (function, arguments) {
            (Der, [of]) => self.derivative(of, expr, context),
            (Pre, [of]) => self.expr(of, Context { is_pre: true, ..context }),
            (NoEvent, [of]) | (Smooth, [_, of]) => self.expr(of, Context { has_events: false, ..context }),
            (Homotopy, [actual, ..]) => self.expr(actual, context),
            (Pure, [of]) => self.expr(of, context),
            (Edge, [of]) => {
                let (now, before) = (self.expr(of, context)?, self.expr(of, Context { is_pre: true, ..context })?);
                let not =
                    Expr::new(ExprKind::Unary(saltus_flat::UnaryOp::Not, Box::new(before)), expr.ty.clone(), expr.span);
                Ok(Expr::new(ExprKind::Binary(BinaryOp::And, Box::new(now), Box::new(not)), expr.ty.clone(), expr.span))
            }
            (Change, [of]) => {
                let (now, before) = (self.expr(of, context)?, self.expr(of, Context { is_pre: true, ..context })?);
                let kind = ExprKind::Binary(BinaryOp::NotEqual, Box::new(now), Box::new(before));
                Ok(Expr::new(kind, expr.ty.clone(), expr.span))
            }
            (Initial, _) => Ok(self.special(Special::Initial, Type::BOOLEAN, expr.span)),
            (Terminal, _) => Ok(self.special(Special::Terminal, Type::BOOLEAN, expr.span)),
            (Sample, [start, interval]) if expr.ty.base == BaseType::Boolean => {
                let (start, interval) = (self.code(start)?, self.code(interval)?);
                self.specials.samples.push(crate::rewrite::Sample { start, interval });
                Ok(self.special(Special::Sample(self.specials.samples.len() - 1), Type::BOOLEAN, expr.span))
            }
            (Floor | Ceil | Integer, [x]) if is_real(x) && !context.is_bound => {
                let kind = match function {
                    Floor => HeldKind::Floor,
                    Ceil => HeldKind::Ceil,
                    _ => HeldKind::Integer,
                };
                self.hold(kind, x, None, expr, context)
            }
            (Div, [x, y]) if is_real(expr) && !context.is_bound => self.hold(HeldKind::Div, x, Some(y), expr, context),
            // x - floor(x/y)*y and x - div(x, y)*y
            (Mod | Rem, [x, y]) if is_real(expr) && !context.is_bound => {
                let whole = if function == Rem {
                    self.hold(HeldKind::Div, x, Some(y), expr, context)?
                } else {
                    let quotient = binary(BinaryOp::Div, x.clone(), y.clone());
                    self.hold(HeldKind::Floor, &quotient, None, expr, context)?
                };
                let (x, y) = (self.expr(x, context)?, self.expr(y, context)?);
                Ok(binary(BinaryOp::Sub, x, binary(BinaryOp::Mul, whole, y)))
            }
            (Floor | Ceil | Integer | Div | Mod | Rem, _) => {
                self.has_inner_relation |= context.is_bound && context.has_events && arguments.iter().any(is_real);
                self.children(expr, context)
            }
            (Delay | SpatialDistribution, _) => Err(format!("`{}`", function.name())),
            (
                Clock | Previous | Hold | SubSample | SuperSample | ShiftSample | BackSample | NoClock | FirstTick
                | Interval | Sample,
                _,
            ) => Err("it belongs to a clock".to_owned()),
            (ActiveState, [state]) if self.active_state(state).is_some() => {
                let name = self.active_state(state).unwrap_or_default();
                Ok(self.special(Special::Active(name), Type::BOOLEAN, expr.span))
            }
            (Transition | InitialState | ActiveState | TicksInState | TimeInState | Excursion, _) => {
                Err("it belongs to a state machine".to_owned())
            }
            _ => self.children(expr, context),
        }
    }

    /// The name of a state, if the program tells whether it is active.
    fn active_state(&self, state: &Expr) -> Option<String> {
        match &state.kind {
            ExprKind::String(name) => Some(name.to_string()).filter(|name| (self.is_state)(name)),
            _ => None,
        }
    }

    /// `der(x)` and `der(x[i])`; other operands are not variables of the program.
    fn derivative(&mut self, of: &Expr, expr: &Expr, context: Context) -> Result<Expr, Reason> {
        match &of.kind {
            ExprKind::Var(id) => {
                let is_fixed = self.model.variables.get(*id).is_some_and(|v| v.variability <= Variability::Parameter);
                if is_fixed {
                    return Err("the derivative of a parameter".to_owned());
                }
                Ok(self.special(Special::Derivative(*id), of.ty.clone(), expr.span))
            }
            ExprKind::Index { base, subscripts } => {
                let base = self.derivative(base, expr, context)?;
                let mut subscripts = subscripts.clone();
                for subscript in &mut subscripts {
                    if let Subscript::Index(e) | Subscript::Slice(e) = subscript {
                        *e = self.expr(e, context)?;
                    }
                }
                Ok(Expr::new(ExprKind::Index { base: Box::new(base), subscripts }, expr.ty.clone(), expr.span))
            }
            ExprKind::Unary(op, inner) => {
                let inner = self.derivative(inner, expr, context)?;
                Ok(Expr::new(ExprKind::Unary(*op, Box::new(inner)), expr.ty.clone(), expr.span))
            }
            ExprKind::Array(items) => {
                let items = items.iter().map(|i| self.derivative(i, i, context)).collect::<Result<_, _>>()?;
                Ok(Expr::new(ExprKind::Array(items), expr.ty.clone(), expr.span))
            }
            _ => Err("the derivative of an expression".to_owned()),
        }
    }

    fn relation(
        &mut self,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
        expr: &Expr,
        context: Context,
    ) -> Result<Expr, Reason> {
        let is_inner = self.uses_locals(left) || self.uses_locals(right);
        self.has_inner_relation |= is_inner || context.is_bound && context.has_events;
        if context.is_bound || is_inner || !(is_real(left) || is_real(right)) {
            return self.children(expr, context);
        }
        self.hold(HeldKind::Relation(op), left, Some(right), expr, context)
    }

    fn uses_locals(&self, expr: &Expr) -> bool {
        let mut is_found = false;
        expr.walk(&mut |e| is_found |= matches!(&e.kind, ExprKind::Var(id) if self.locals.contains_key(id)));
        is_found
    }

    fn hold(
        &mut self,
        kind: HeldKind,
        left: &Expr,
        right: Option<&Expr>,
        expr: &Expr,
        context: Context,
    ) -> Result<Expr, Reason> {
        if self.uses_locals(left) || right.is_some_and(|r| self.uses_locals(r)) {
            self.has_inner_relation = true;
            return self.children(expr, context);
        }
        let left = Arc::new(Term::of(&self.expr(left, context)?));
        let right = right.map(|r| self.expr(r, context)).transpose()?.map(|r| Arc::new(Term::of(&r)));
        self.specials.held.push(Held { kind, left, right, keeps: context.has_events, span: expr.span });
        let number = self.specials.held.len() - 1;
        Ok(self.special(Special::Held(number), expr.ty.clone(), expr.span))
    }
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    let span = left.span;
    Expr::new(ExprKind::Binary(op, Box::new(left), Box::new(right)), Type::REAL, span)
}

fn is_relation(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual)
}

fn is_number(expr: &Expr) -> bool {
    expr.ty.is_numeric() && expr.ty.is_scalar()
}

fn is_real(expr: &Expr) -> bool {
    expr.ty.base == BaseType::Real && expr.ty.is_scalar()
}
