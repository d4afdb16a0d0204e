//! Arrays of components whose elements are alike: instantiated once, with an iterator in place of the number of the element.
//!
//! ```text
//! model Cell  parameter Real C;  Real T, Q;  equation  C*der(T) = Q;  end Cell;
//! Cell c[1000](each C = 2, T(start = T0));    c[1].Q = 0;
//!
//!     ⇒   Real[1000] c[:].T(start = T0), c[:].Q;  parameter Real[1000] c[:].C = fill(2, 1000);
//!         {c[:].C[i] * der(c[:].T[i]) for i in 1:1000} = {c[:].Q[i] for i in 1:1000};    c[:].Q[1] = 0;
//! ```
//!
//! Inside of the array a variable `x` is `c[:].x[i]`; from outside, the iterators of an element are replaced by its subscripts. Equations become
//! families as those of loops do ([`family`](crate::family)).
//!
//! Nothing is decided beforehand: what does not fit, and whatever there is to complain about, refuses the arrays, and the class is flattened
//! again with all of them taken apart ([`flatten`](crate::flatten)). To find that out takes no longer than to flatten one element.

use std::borrow::Cow;
use std::collections::HashSet;

use saltus_base::Span;
use saltus_eval::Value;
use saltus_flat::element::n_outer_dimensions;
use saltus_flat::family::{Counter, is_arithmetic, read, spread};
use saltus_flat::{
    self as flat, BaseType, Dim, EquationKind, Expr, ExprKind, FlatModel, LocalId, Subscript, Type, VarId, Variability,
    Variable,
};
use saltus_syntax::ast;
use saltus_typing as typing;

use crate::Front;
use crate::component::fill;
use crate::family::mentions;
use crate::instance::{ClassComp, CompId, InstId, SlotId};

impl<'a> Front<'a> {
    /// The elements of arrays are needed one by one.
    pub fn refuse_templates(&mut self) {
        if self.templates.n_kept > 0 {
            self.templates.are_refused = true;
            self.budget.is_too_large = true;
        }
    }

    /// Refuses templates if `inst` is inside of one.
    pub fn refuse_in_template(&mut self, inst: InstId) {
        if !self.tree[inst].outer.is_empty() {
            self.refuse_templates();
        }
    }

    /// Iterators for the dimensions of a component array that may be kept; none if it is taken apart.
    pub fn counters_of_alike(&mut self, comp: CompId, slot: SlotId, dims: &[u64], class_rank: usize) -> Vec<Counter> {
        let Some(fewest) = self.templates.fewest else { return Vec::new() };
        let (owner, declared) = (self.tree[comp].owner, &self.tree[comp].declared);
        let count = dims.iter().try_fold(1u64, |n, &d| n.checked_mul(d)).unwrap_or(0);
        let is_plain = !declared.is_inner && !declared.is_outer && class_rank == 0;
        let is_part = self.tree[owner].path.is_some() && self.tree[owner].function.is_none();
        if !is_plain || !is_part || dims.is_empty() || count < fewest || count > u64::from(u32::MAX) {
            return Vec::new();
        }
        use ast::ClassKind as K;
        let inst = self.slot_instance(slot);
        let is_of_components = matches!(self.defining_class(inst).1, K::Model | K::Block | K::Class | K::Connector);
        if !is_of_components || !self.is_model_inst(owner) {
            return Vec::new();
        }
        self.templates.n_kept += 1;
        let (span, n_outer) = (self.tree[comp].declared.span, self.tree[owner].outer.len());
        let counter = |front: &mut Self, k: usize, n: u64| {
            let name = format!("$i{}", n_outer + k + 1);
            let local = flat::Local { name, ty: Type::INTEGER, sizes: Vec::new(), default: None, span };
            Counter { local: front.functions.model_locals.push(local), first: 1, step: 1, n }
        };
        dims.iter().enumerate().map(|(k, &n)| counter(self, k, n)).collect()
    }

    /// Refuses members of arrays of alike components that only make sense one by one.
    pub fn check_template_member(&mut self, class: &ClassComp) {
        let Some(&element) = class.elements.first() else { return };
        if self.tree[element].outer.is_empty() {
            return;
        }
        let has_demands = !self.checks.must_connect.is_empty() || !self.checks.connect_once.is_empty();
        if has_demands || self.is_expandable(element) || self.is_overdetermined(element) {
            self.refuse_templates();
        }
    }

    /// The type of the variable in the flat model: that of the component behind the dimensions of arrays around it.
    pub fn whole_type(&mut self, comp: CompId) -> Type {
        let ty = self.comp_type(comp);
        with_outer(&ty, &self.tree[self.tree[comp].owner].outer)
    }

    /// A variable as the class of its component sees it: in an array of alike components that of this element.
    pub fn of_this_element(&mut self, comp: CompId, var: Expr) -> Expr {
        let outer = &self.tree[self.tree[comp].owner].outer;
        if outer.is_empty() {
            return var;
        }
        let (ty, span) = (var.ty.clone(), var.span);
        let whole = Expr { ty: with_outer(&var.ty, outer), ..var };
        let subscripts = outer.iter().map(|c| Subscript::Index(local(c.local, span))).collect();
        Expr::new(ExprKind::Index { base: Box::new(whole), subscripts }, ty, span)
    }

    /// `c[i].x`, `c[2:3].x` or `c.x` of an array whose only instance stands for each element.
    pub fn template_expr(
        &mut self,
        scope: InstId,
        comp: CompId,
        class: &ClassComp,
        parts: &'a [ast::RefPart],
        span: Span,
    ) -> Expr {
        let is_inside = self.tree[scope].outer.iter().any(|own| class.counters.iter().any(|c| c.local == own.local));
        let (subscripts, n_dims) = (&parts[0].subscripts, class.counters.len());
        let (Some(&inst), false) = (class.elements.first(), is_inside || subscripts.len() > n_dims) else {
            self.refuse_templates();
            return Expr::error(span);
        };
        let mut picks = Vec::with_capacity(n_dims);
        for (k, counter) in class.counters.iter().enumerate() {
            let pick = match subscripts.get(k) {
                None | Some(ast::Subscript::Colon(_)) => Some(Subscript::All),
                Some(ast::Subscript::Expr(e)) => self.pick_of_template(scope, e, counter.n),
            };
            let Some(pick) = pick else {
                self.refuse_templates();
                return Expr::error(span);
            };
            picks.push(pick);
        }
        let inner = self.inside(scope, comp, inst, &parts[1..], span);
        if inner.is_error() {
            return inner;
        }
        self.picked(inner, &class.counters, &picks).unwrap_or_else(|| {
            self.refuse_templates();
            Expr::error(span)
        })
    }

    fn pick_of_template(&mut self, scope: InstId, e: &'a ast::Expr, size: u64) -> Option<Subscript> {
        self.context.ends.push(Expr::integer(size as i64, e.span));
        let typed = self.expression(scope, e);
        self.context.ends.pop();
        if typed.is_error() || typed.ty.base != BaseType::Integer {
            return None;
        }
        let is_within = |i: i64| i >= 1 && i as u64 <= size;
        match self.evaluate_index(&typed) {
            Some(Value::Integer(i)) => is_within(i).then(|| Subscript::Index(Expr::integer(i, e.span))),
            Some(list @ Value::Array(_)) => {
                let list = crate::reference::index_list(&list)?;
                let (&first, &last) = (list.first()?, list.last()?);
                let is_row = list.windows(2).all(|w| w[1] == w[0] + 1) && is_within(first as i64) && last <= size;
                if !is_row {
                    return None;
                }
                if list.len() as u64 == size {
                    return Some(Subscript::All);
                }
                let number = |value: u64| Box::new(Expr::integer(value as i64, e.span));
                let kind = ExprKind::Range { start: number(first), step: None, stop: number(last) };
                let ty = Type::array(BaseType::Integer, [Dim::Known(list.len() as u64)]);
                Some(Subscript::Slice(Expr::new(kind, ty, e.span)))
            }
            Some(_) => None,
            // The iterator of a loop that is kept; where it leads is looked at with the equation.
            None => {
                let is_of_loop = typed.ty.is_scalar() && typing::variability(self, &typed) <= Variability::Parameter;
                is_of_loop.then_some(Subscript::Index(typed))
            }
        }
    }

    /// What `inner` says of each element, for the picked ones.
    fn picked(&mut self, mut inner: Expr, counters: &[Counter], picks: &[Subscript]) -> Option<Expr> {
        let n_each = picks.iter().filter(|pick| !matches!(pick, Subscript::Index(_))).count();
        if n_each == 0 {
            replace_locals(&mut inner, counters, picks);
            return Some(inner);
        }
        let mut outer = Vec::with_capacity(n_each);
        for (pick, counter) in picks.iter().zip(counters) {
            match pick {
                Subscript::Index(_) => {}
                Subscript::All => outer.push(Dim::Known(counter.n)),
                Subscript::Slice(list) => outer.push(list.ty.dims[0]),
            }
        }
        let span = inner.span;
        if inner.is_literal() {
            let sizes: Option<Vec<u64>> = outer.iter().map(|d| d.known()).collect();
            return Some(fill(inner, &sizes?));
        }
        let ty = inner.ty.with_outer(&outer);
        let ExprKind::Index { base, mut subscripts } = inner.kind else { return None };
        // Further dimensions of the same variable are behind those of the array, so theirs stay in order.
        let mut n_replaced = 0;
        for subscript in &mut subscripts {
            if let Some(at) = counters.iter().position(|c| is_local(subscript, c.local)) {
                *subscript = picks[at].clone();
                n_replaced += 1;
            }
        }
        let mentions_iterator = |e: &Expr| counters.iter().any(|c| mentions(e, c.local));
        let is_clean = subscripts.iter().all(|subscript| match subscript {
            Subscript::Index(e) | Subscript::Slice(e) => !mentions_iterator(e),
            Subscript::All => true,
        });
        if n_replaced != counters.len() || !is_clean || mentions_iterator(&base) {
            return None;
        }
        if subscripts.iter().all(|subscript| matches!(subscript, Subscript::All)) {
            return Some(*base);
        }
        Some(Expr::new(ExprKind::Index { base, subscripts }, ty, span))
    }

    /// An expression as the evaluator can have it: parameters in arrays of alike components are the same in each element, or have no
    /// value while one stands for all.
    pub fn of_any_element<'e>(&mut self, e: &'e Expr) -> Cow<'e, Expr> {
        if self.templates.n_kept == 0 {
            return Cow::Borrowed(e);
        }
        let mut e = e.clone();
        self.take_any_element(&mut e);
        Cow::Owned(e)
    }

    fn take_any_element(&mut self, e: &mut Expr) {
        if let ExprKind::Index { base, subscripts } = &mut e.kind
            && let ExprKind::Var(var) = base.kind
        {
            let comp = self.tree.vars[var];
            let n_outer = self.tree[self.tree[comp].owner].outer.len();
            if n_outer > 0 {
                let rest = subscripts.split_off(n_outer.min(subscripts.len()));
                if subscripts.len() < n_outer || !subscripts.iter().all(|s| matches!(s, Subscript::Index(_))) {
                    self.refuse_templates();
                    return;
                }
                let own = Type::array(base.ty.base, base.ty.dims[n_outer..].to_vec());
                let own = Expr::new(ExprKind::Var(var), own, base.span);
                let kind = ExprKind::Index { base: Box::new(own.clone()), subscripts: rest };
                let ExprKind::Index { subscripts, .. } = &kind else { return };
                *e = if subscripts.is_empty() { own } else { Expr::new(kind, e.ty.clone(), e.span) };
                if let ExprKind::Index { subscripts, .. } = &mut e.kind {
                    for subscript in subscripts {
                        if let Subscript::Index(e) | Subscript::Slice(e) = subscript {
                            self.take_any_element(e);
                        }
                    }
                }
                return;
            }
        }
        if let ExprKind::Var(var) = e.kind {
            let comp = self.tree.vars[var];
            if !self.tree[self.tree[comp].owner].outer.is_empty() {
                self.refuse_templates();
            }
        }
        e.for_each_child_mut(&mut |child| self.take_any_element(child));
    }

    /// Equations of the class of alike components as those of all elements.
    pub fn keep_template_equations(&mut self, inst: InstId, equations: &mut [flat::Equation]) {
        let counters = self.tree[inst].outer.clone();
        if counters.is_empty() {
            return;
        }
        for equation in equations {
            if !self.keep_template_equation(equation, &counters) {
                return self.refuse_templates();
            }
        }
    }

    fn keep_template_equation(&mut self, equation: &mut flat::Equation, counters: &[Counter]) -> bool {
        let span = equation.span;
        let EquationKind::Equality { left, right } = &mut equation.kind else { return false };
        if read(left, right).is_some_and(|(kept, _)| kept.starts_with(counters)) {
            return true;
        }
        let is_kept = self.is_uniform_equation([&mut *left, &mut *right], counters);
        if is_kept {
            for side in [left, right] {
                let body = std::mem::replace(side, Expr::error(span));
                *side = spread(body, counters, span);
            }
        }
        is_kept
    }

    /// What a declaration says of each element, for the variable of all elements.
    pub fn declare_for_all(&mut self, comp: CompId, variable: &mut Variable) {
        let counters = self.tree[self.tree[comp].owner].outer.clone();
        if counters.is_empty() {
            return;
        }
        let has_value = variable.binding.is_some();
        let is_equation = has_value && variable.variability > Variability::Parameter;
        let is_number = matches!(
            variable.ty.base,
            BaseType::Real | BaseType::Integer | BaseType::Boolean | BaseType::Enumeration(_)
        );
        let is_kept = is_number
            && match &mut variable.binding {
                Some(binding) if is_equation => {
                    let mut zero = Expr::real(0.0, binding.span);
                    binding.ty == Type::REAL && self.is_uniform([&mut *binding, &mut zero], &counters)
                }
                Some(binding) => !has_calls(binding),
                None => true,
            };
        if !is_kept || variable.attributes.iter().any(|(_, e)| has_calls(e)) {
            return self.refuse_templates();
        }
        variable.ty = with_outer(&variable.ty, &counters);
        if let Some(binding) = variable.binding.take() {
            variable.binding = Some(for_all(binding, &counters));
        }
        for value in variable.attributes.iter_mut() {
            if value.ty.is_scalar() && !counters.iter().any(|c| mentions(value, c.local)) {
                continue;
            }
            let of_each = std::mem::replace(value, Expr::error(value.span));
            *value = for_all(of_each, &counters);
        }
    }

    /// Whether the model says nothing of a single element that it must not say of a part of an array.
    pub fn check_templates(&mut self, model: &FlatModel) {
        if self.templates.n_kept == 0 {
            return;
        }
        let is_kept = |v: &Variable| n_outer_dimensions(&v.name) > 0;
        let kept: HashSet<VarId> = model.variables.iter().filter(|(_, v)| is_kept(v)).map(|(id, _)| id).collect();
        let mut is_clean = true;
        let mut bound: Vec<LocalId> = Vec::new();
        for variable in model.variables.values() {
            for e in variable.binding.iter().chain(variable.attributes.iter().map(|(_, e)| e)) {
                is_clean &= is_closed(e, &mut bound);
            }
        }
        for equation in model.equations.iter().chain(&model.initial_equations) {
            flat::uses::for_each_expr_of_equation(equation, &mut |e| is_clean &= is_closed(e, &mut bound));
            let is_plain = matches!(equation.kind, EquationKind::Equality { .. });
            // What a `when` assigns is discrete, with all elements of its variable.
            let mut mentions_template = false;
            flat::uses::for_each_expr_of_equation(equation, &mut |e| mentions_template |= mentions_kept(e, &kept));
            is_clean &= is_plain || !mentions_template;
        }
        for algorithm in model.algorithms.iter().chain(&model.initial_algorithms) {
            flat::uses::for_each_expr_of_algorithm(algorithm, &mut |e| is_clean &= !mentions_kept(e, &kept));
        }
        if !is_clean {
            self.refuse_templates();
        }
    }

    /// Is it arithmetic between scalar Reals, with subscripts that are affine and in bounds, in which all iterators occur?
    pub fn is_uniform_equation(&mut self, sides: [&mut Expr; 2], counters: &[Counter]) -> bool {
        let is_real = sides.iter().all(|side| side.ty == Type::REAL);
        let [left, right] = sides;
        // One that occurs nowhere repeats an equation, which is a mistake.
        is_real
            && self.is_uniform([&mut *left, &mut *right], counters)
            && counters.iter().all(|c| mentions(left, c.local) || mentions(right, c.local))
    }

    fn is_uniform(&mut self, sides: [&mut Expr; 2], counters: &[Counter]) -> bool {
        sides.into_iter().all(|side| is_arithmetic(side) && self.settle_subscripts(side, counters))
    }
}

fn mentions_kept(e: &Expr, kept: &HashSet<VarId>) -> bool {
    let mut found = false;
    e.walk(&mut |e| found |= matches!(&e.kind, ExprKind::Var(var) if kept.contains(var)));
    found
}

fn with_outer(ty: &Type, counters: &[Counter]) -> Type {
    let dims: Vec<Dim> = counters.iter().map(|c| Dim::Known(c.n)).collect();
    ty.with_outer(&dims)
}

fn local(local: LocalId, span: Span) -> Expr {
    Expr::new(ExprKind::Local(local), Type::INTEGER, span)
}

fn is_local(subscript: &Subscript, local: LocalId) -> bool {
    matches!(subscript, Subscript::Index(Expr { kind: ExprKind::Local(own), .. }) if *own == local)
}

fn replace_locals(e: &mut Expr, counters: &[Counter], picks: &[Subscript]) {
    if let ExprKind::Local(local) = e.kind
        && let Some(at) = counters.iter().position(|c| c.local == local)
        && let Subscript::Index(pick) = &picks[at]
    {
        *e = pick.clone();
        return;
    }
    e.for_each_child_mut(&mut |child| replace_locals(child, counters, picks));
}

/// The array of the values of all elements.
fn for_all(value: Expr, counters: &[Counter]) -> Expr {
    let sizes: Vec<u64> = counters.iter().map(|c| c.n).collect();
    if !counters.iter().any(|c| mentions(&value, c.local)) {
        return fill(value, &sizes);
    }
    if let Some(whole) = whole_value(&value, counters) {
        return whole;
    }
    let span = value.span;
    spread(value, counters, span)
}

/// `a` of `a[i]`, also if that is converted to Real: an array that is written out must not be written out for each element.
fn whole_value(value: &Expr, counters: &[Counter]) -> Option<Expr> {
    match &value.kind {
        ExprKind::Cast(of) => {
            let whole = whole_value(of, counters)?;
            let ty = Type { base: value.ty.base, dims: whole.ty.dims.clone() };
            Some(Expr::new(ExprKind::Cast(Box::new(whole)), ty, value.span))
        }
        ExprKind::Index { base, subscripts } => {
            let is_each = subscripts.len() == counters.len()
                && subscripts.iter().zip(counters).all(|(s, c)| is_local(s, c.local))
                && base.ty.dims.iter().zip(counters).all(|(d, c)| d.known() == Some(c.n))
                && !counters.iter().any(|c| mentions(base, c.local));
            is_each.then(|| (**base).clone())
        }
        _ => None,
    }
}

fn has_calls(e: &Expr) -> bool {
    let mut found = false;
    e.walk(&mut |e| found |= matches!(e.kind, ExprKind::Call { .. } | ExprKind::CallLocal { .. }));
    found
}

/// Is each iterator in it that of a constructor around it?
fn is_closed(e: &Expr, bound: &mut Vec<LocalId>) -> bool {
    match &e.kind {
        ExprKind::Local(local) => bound.contains(local),
        ExprKind::Reduction { iterators, .. } => {
            let n = bound.len();
            bound.extend(iterators.iter().map(|i| i.local));
            let mut is_clean = true;
            e.for_each_child(&mut |child| is_clean &= is_closed(child, bound));
            bound.truncate(n);
            is_clean
        }
        _ => {
            let mut is_clean = true;
            e.for_each_child(&mut |child| is_clean &= is_closed(child, bound));
            is_clean
        }
    }
}
