//! Which locals have a value where an instruction stands (specification 12.4.4).
//!
//! ```text
//! if u > 1 then w := 2; end if;              w := 2;  w has a value := true
//! y := w;                            ⇒       expect w has a value;  y := w
//! ```
//!
//! The lowering walks the function in the order of its execution and keeps the locals that have a value on every way to the present place.
//! What it cannot settle – a loop that may have no round, conditions that exclude each other – is settled when the function runs, by a
//! Boolean local beside the one in question, a *flag*. Functions in which everything is settled have none.
//!
//! An array has a value as soon as one of its elements has, a record with one of its fields. An array without elements needs none, and
//! one of open size has no elements at first (12.4.5).

use std::collections::{BTreeMap, BTreeSet};

use saltus_base::{IdVec, Index as _};
use saltus_flat::{BaseType, BinaryOp, Builtin, Expr, ExprKind, Function, Local, LocalId, Type};

/// By local: has it a value on every way to the present place? Of a place that no way leads to: everything.
#[derive(Clone, Default)]
pub(super) struct Values {
    outputs: Vec<LocalId>,
    now: Vec<bool>,
    is_reached: bool,
    /// Of each loop around: what has a value on every way out of it so far.
    ends: Vec<Option<Vec<bool>>>,
    /// Locals that are read, or returned, where that is not certain.
    pub unsettled: BTreeSet<LocalId>,
    /// Those of them that have been given a flag.
    pub flags: BTreeMap<LocalId, LocalId>,
    /// Only sizes are asked for.
    pub is_ignored: bool,
}

impl Values {
    /// On entry.
    pub fn new(function: &Function, flags: BTreeMap<LocalId, LocalId>) -> Values {
        let has = |(id, l): (LocalId, &Local)| has_value(l) || function.inputs.contains(&id);
        let mut now: Vec<bool> = function.locals.iter().map(has).collect();
        // An initial value that needs one that is missing is missing itself.
        let mut is_settled = false;
        while !is_settled {
            is_settled = true;
            for (id, local) in function.locals.iter().filter(|(id, _)| !function.inputs.contains(id)) {
                if now[id.index()] && local.default.as_ref().is_some_and(|value| needs_missing(value, &now)) {
                    (now[id.index()], is_settled) = (false, false);
                }
            }
        }
        Values { outputs: function.outputs.clone(), now, is_reached: true, flags, ..Values::default() }
    }

    /// Is its initial value of no use?
    pub fn is_missing(&self, id: LocalId) -> bool {
        self.now.get(id.index()) == Some(&false)
    }

    /// Does a local that is read here need its flag?
    pub fn is_open(&mut self, id: LocalId) -> bool {
        let is_open = !self.is_ignored && self.is_reached && self.now.get(id.index()) == Some(&false);
        if is_open {
            self.unsettled.insert(id);
        }
        is_open
    }

    /// The local has been assigned, or a part of it. The flag that says so, unless it was certain before.
    pub fn assign(&mut self, id: LocalId) -> Option<LocalId> {
        let had = self.now.get_mut(id.index()).map(|now| std::mem::replace(now, true));
        self.flags.get(&id).copied().filter(|_| had == Some(false))
    }

    /// The variable of a loop or a reduction has the value of the round.
    pub fn bind(&mut self, id: LocalId) {
        self.now.get_mut(id.index()).into_iter().for_each(|now| *now = true);
    }

    pub fn enter_branch(&self) -> (Vec<bool>, bool) {
        (self.now.clone(), self.is_reached)
    }

    /// Goes back to the place before a branch; what held at its end is joined with what held at the ends of others.
    pub fn leave_branch(&mut self, before: &(Vec<bool>, bool), joined: &mut Option<Vec<bool>>) {
        if self.is_reached {
            join(joined, &self.now);
        }
        (self.now, self.is_reached) = before.clone();
    }

    /// Where ways come together.
    pub fn arrive(&mut self, joined: Option<Vec<bool>>) {
        self.is_reached = joined.is_some();
        if let Some(joined) = joined {
            self.now = joined;
        }
    }

    pub fn enter_loop(&mut self) {
        self.ends.push(None);
    }

    /// After a loop. `without`: what holds where it ends by itself, unless it never does.
    pub fn leave_loop(&mut self, without: Option<Vec<bool>>) {
        let mut joined = self.ends.pop().flatten();
        if let Some(without) = without {
            join(&mut joined, &without);
        }
        self.arrive(joined);
    }

    /// What holds here; `None` where no way leads.
    pub fn here(&self) -> Option<Vec<bool>> {
        self.is_reached.then(|| self.now.clone())
    }

    /// Outputs are returned here.
    pub fn return_all(&mut self) {
        for &output in &self.outputs.clone() {
            self.is_open(output);
        }
        self.stop();
    }

    pub fn stop(&mut self) {
        self.is_reached = false;
    }

    pub fn breaks(&mut self) {
        if let (true, Some(end)) = (self.is_reached, self.ends.last_mut()) {
            join(end, &self.now);
        }
        self.stop();
    }
}

fn join(joined: &mut Option<Vec<bool>>, other: &[bool]) {
    match joined {
        None => *joined = Some(other.to_vec()),
        Some(joined) => joined.iter_mut().zip(other).for_each(|(a, b)| *a &= b),
    }
}

/// Does a local that is not assigned have a value?
fn has_value(local: &Local) -> bool {
    let is_data = !matches!(local.ty.base, BaseType::Function | BaseType::ExternalObject(_) | BaseType::Clock);
    local.default.is_some() || !is_data || local.ty.n_elements() == Some(0) || local.has_open_size()
}

/// Is a local without a value read, whatever the expression decides?
fn needs_missing(expr: &Expr, now: &[bool]) -> bool {
    match &expr.kind {
        ExprKind::Local(id) => now.get(id.index()) == Some(&false),
        ExprKind::If { condition, .. } => needs_missing(condition, now),
        ExprKind::Binary(BinaryOp::And | BinaryOp::Or, left, _) => needs_missing(left, now),
        // Iteration variables have values.
        ExprKind::Reduction { .. } => false,
        ExprKind::Builtin { function: Builtin::Size | Builtin::Ndims, .. } => false,
        _ => {
            let mut needs = false;
            expr.for_each_child(&mut |child| needs |= needs_missing(child, now));
            needs
        }
    }
}

/// The function with a flag for each of these locals.
pub(super) fn with_flags(function: &Function, unsettled: &BTreeSet<LocalId>) -> (Function, BTreeMap<LocalId, LocalId>) {
    let mut locals: IdVec<LocalId, Local> = function.locals.clone();
    let mut flags = BTreeMap::new();
    for &id in unsettled {
        let local = &function.locals[id];
        let default = Some(is_empty(local));
        let name = format!("{} has a value", local.name);
        let flag = Local { name, ty: Type::BOOLEAN, sizes: Vec::new(), default, span: local.span };
        flags.insert(id, locals.push(flag));
    }
    (Function { locals, ..function.clone() }, flags)
}

/// Has an array no elements?
fn is_empty(local: &Local) -> Expr {
    let mut empty = Expr::boolean(false, local.span);
    for size in local.sizes.iter().flatten() {
        let either = |op, a: Expr, b| {
            let span = a.span;
            Expr::new(ExprKind::Binary(op, Box::new(a), Box::new(b)), Type::BOOLEAN, span)
        };
        let is_zero = either(BinaryOp::Equal, size.clone(), Expr::integer(0, size.span));
        empty = if matches!(empty.kind, ExprKind::Boolean(_)) { is_zero } else { either(BinaryOp::Or, empty, is_zero) };
    }
    empty
}
