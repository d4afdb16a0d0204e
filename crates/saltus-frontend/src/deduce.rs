//! Ranges that are left out: `for i loop x[i] := …` runs over the dimension that `i` indexes (specification 11.2.2.1),
//! and whether a loop index reaches into an array of components.

use saltus_base::{Name, Span};
use saltus_flat::{self as flat, Dim, Expr, Type};
use saltus_syntax::ast;
use saltus_typing as typing;

use crate::Front;
use crate::diagnostics as d;
use crate::instance::{CompId, InstId, Member};

type Visit<'v, 'a> = &'v mut dyn FnMut(&'a ast::ComponentRef);

impl<'a> Front<'a> {
    /// The range of an index without one, from its uses as a plain subscript.
    pub fn deduced_range(
        &mut self,
        scope: InstId,
        index: &'a ast::ForIndex,
        walk: &mut dyn FnMut(Visit<'_, 'a>),
    ) -> Expr {
        let name = index.name.name;
        let mut found: Vec<(&'a ast::ComponentRef, usize, usize)> = Vec::new();
        walk(&mut |reference| {
            for (p, part) in reference.parts.iter().enumerate() {
                for (k, subscript) in part.subscripts.iter().enumerate() {
                    if let ast::Subscript::Expr(ast::Expr { kind: ast::ExprKind::Ref(r), .. }) = subscript
                        && r.parts.len() == 1
                        && r.parts[0].name.name == name
                    {
                        found.push((reference, p, k));
                    }
                }
            }
        });
        let span = index.name.span;
        if let Some(&(reference, part, dimension)) = found.first()
            && let Some(base) = self.index_type_of_part(scope, reference, part, dimension)
            && let Some(values) = self.range_over_type(base, span)
        {
            return values;
        }
        let sizes: Vec<Expr> = found
            .into_iter()
            .filter_map(|(reference, part, dimension)| self.size_of_part(scope, reference, part, dimension, span))
            .collect();
        let known = |e: &Expr| match e.kind {
            flat::ExprKind::Integer(n) => u64::try_from(n).ok(),
            _ => None,
        };
        if let Some(first) = sizes.iter().find_map(known)
            && let Some(other) = sizes.iter().filter_map(known).find(|n| *n != first)
        {
            self.report(d::deduced_ranges_differ(self.text(name), first, other, span));
            return Expr::error(span);
        }
        match sizes.into_iter().next() {
            Some(stop) => typing::range(self, Expr::integer(1, span), None, stop, span),
            None => {
                self.report(d::range_not_deducible(self.text(name), span));
                Expr::error(span)
            }
        }
    }

    fn size_of_part(
        &mut self,
        scope: InstId,
        reference: &'a ast::ComponentRef,
        part: usize,
        dimension: usize,
        span: Span,
    ) -> Option<Expr> {
        let array = self.array_of_part(scope, reference, part, span)?;
        match array.ty.dims.get(dimension)? {
            Dim::Known(n) => Some(Expr::integer(*n as i64, span)),
            Dim::Unknown => {
                let arguments = vec![array.clone(), Expr::integer(dimension as i64 + 1, span)];
                Some(Expr::builtin(flat::Builtin::Size, arguments, Type::INTEGER, span))
            }
        }
    }
}

impl<'a> Front<'a> {
    /// The enumeration (or Boolean) that indexes a dimension of what the parts up to `part` mean.
    fn index_type_of_part(
        &mut self,
        scope: InstId,
        reference: &'a ast::ComponentRef,
        part: usize,
        dimension: usize,
    ) -> Option<flat::BaseType> {
        let comp = self.component_of_part(scope, reference, part)?;
        if self.tree[comp].local.is_some() {
            return None;
        }
        self.comp_dims(comp);
        self.sizes.index_type(comp, dimension)
    }

    /// The component that the parts up to `part` name, by packages or components; of an array of components its first element counts.
    pub fn component_of_part(
        &mut self,
        scope: InstId,
        reference: &'a ast::ComponentRef,
        part: usize,
    ) -> Option<CompId> {
        let first = reference.parts.first()?;
        let mut found = self.lookup_name(scope, first.name.name)?;
        for part in &reference.parts[1..=part] {
            let inside = match found {
                Member::Component(comp) => {
                    let comp = self.actual(comp);
                    *self.comp_elements(comp).first()?
                }
                Member::Class(slot) => self.slot_instance(slot),
            };
            found = self.member(inside, part.name.name)?;
        }
        match found {
            Member::Component(comp) => Some(self.actual(comp)),
            Member::Class(_) => None,
        }
    }

    /// What the parts up to `part` mean without subscripts; of an array of components its first element counts.
    fn array_of_part(
        &mut self,
        scope: InstId,
        reference: &'a ast::ComponentRef,
        part: usize,
        span: Span,
    ) -> Option<Expr> {
        let first = reference.parts.first()?;
        let local = match self.lookup_name(scope, first.name.name)? {
            Member::Component(comp) => {
                let comp = self.actual(comp);
                self.tree[comp].local
            }
            Member::Class(_) => None,
        };
        if let Some(local) = local {
            let mut expr = Expr::new(flat::ExprKind::Local(local), self.local_type_of(local), span);
            for part in &reference.parts[1..=part] {
                let name = self.text(part.name.name);
                expr = typing::field(self, expr, name, span);
            }
            return Some(expr);
        }
        let comp = self.component_of_part(scope, reference, part)?;
        let dims = self.comp_dims(comp);
        let ty = Type::array(flat::BaseType::Real, dims.iter().map(|&n| Dim::Known(n)).collect::<Vec<_>>());
        Some(Expr::new(flat::ExprKind::Error, ty, span))
    }
}

/// Whether `name` appears in a subscript that is not on the last part of a reference, as in `r[i].v`.
pub fn indexes_components(body: &[ast::Statement], name: Name) -> bool {
    let mut found = false;
    walk_statements(body, &mut |reference| {
        let n = reference.parts.len();
        for part in &reference.parts[..n.saturating_sub(1)] {
            for subscript in &part.subscripts {
                if let ast::Subscript::Expr(e) = subscript {
                    walk_expr(e, &mut |r| found |= r.parts.len() == 1 && r.parts[0].name.name == name);
                }
            }
        }
    });
    found
}

pub fn walk_statements<'a>(statements: &'a [ast::Statement], visit: Visit<'_, 'a>) {
    for statement in statements {
        match &statement.kind {
            ast::StatementKind::Assign { target, value } => {
                walk_ref(target, visit);
                walk_expr(value, visit);
            }
            ast::StatementKind::AssignTuple { targets, call } => {
                targets.iter().flatten().for_each(|t| walk_ref(t, visit));
                walk_call(call, visit);
            }
            ast::StatementKind::Call(call) => walk_call(call, visit),
            ast::StatementKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    walk_expr(condition, visit);
                    walk_statements(body, visit);
                }
                walk_statements(otherwise.as_deref().unwrap_or(&[]), visit);
            }
            ast::StatementKind::For { indices, body } => {
                indices.iter().filter_map(|i| i.range.as_ref()).for_each(|r| walk_expr(r, visit));
                walk_statements(body, visit);
            }
            ast::StatementKind::While { condition, body } => {
                walk_expr(condition, visit);
                walk_statements(body, visit);
            }
            ast::StatementKind::When { branches } => {
                for (condition, body) in branches {
                    walk_expr(condition, visit);
                    walk_statements(body, visit);
                }
            }
            ast::StatementKind::Break | ast::StatementKind::Return | ast::StatementKind::Error => {}
        }
    }
}

pub fn walk_equations<'a>(equations: &'a [ast::Equation], visit: Visit<'_, 'a>) {
    for equation in equations {
        match &equation.kind {
            ast::EquationKind::Equality { left, right } => {
                walk_expr(left, visit);
                walk_expr(right, visit);
            }
            ast::EquationKind::Connect { from, to } => {
                walk_ref(from, visit);
                walk_ref(to, visit);
            }
            ast::EquationKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    walk_expr(condition, visit);
                    walk_equations(body, visit);
                }
                walk_equations(otherwise.as_deref().unwrap_or(&[]), visit);
            }
            ast::EquationKind::For { indices, body } => {
                indices.iter().filter_map(|i| i.range.as_ref()).for_each(|r| walk_expr(r, visit));
                walk_equations(body, visit);
            }
            ast::EquationKind::When { branches } => {
                for (condition, body) in branches {
                    walk_expr(condition, visit);
                    walk_equations(body, visit);
                }
            }
            ast::EquationKind::Call(call) => walk_call(call, visit),
            ast::EquationKind::Error => {}
        }
    }
}

fn walk_ref<'a>(reference: &'a ast::ComponentRef, visit: Visit<'_, 'a>) {
    visit(reference);
    for part in &reference.parts {
        subscripts(&part.subscripts).for_each(|e| walk_expr(e, visit));
    }
}

fn walk_call<'a>(call: &'a ast::Call, visit: Visit<'_, 'a>) {
    call_parts(call, &mut |e| walk_expr(e, visit));
}

/// Is `name` used in `expr`?
pub fn mentions(expr: &ast::Expr, name: Name) -> bool {
    let mut found = false;
    walk_expr(expr, &mut |reference| found |= matches!(reference.parts.as_slice(), [part] if part.name.name == name));
    found
}

/// Every reference in an expression.
pub fn walk_expr<'a>(expr: &'a ast::Expr, visit: Visit<'_, 'a>) {
    if let ast::ExprKind::Ref(reference) = &expr.kind {
        visit(reference);
    }
    parts(expr, &mut |part| walk_expr(part, visit));
}

/// The ranges of all iterators in an expression.
pub fn walk_ranges<'a>(expr: &'a ast::Expr, visit: &mut dyn FnMut(&'a ast::Expr)) {
    let indices = match &expr.kind {
        ast::ExprKind::Comprehension(_, indices) => indices.as_slice(),
        ast::ExprKind::Call(call) => call.iterators.as_slice(),
        _ => &[],
    };
    ranges(indices).for_each(&mut *visit);
    parts(expr, &mut |part| walk_ranges(part, visit));
}

fn ranges(indices: &[ast::ForIndex]) -> impl Iterator<Item = &ast::Expr> {
    indices.iter().filter_map(|index| index.range.as_ref())
}

fn subscripts(subscripts: &[ast::Subscript]) -> impl Iterator<Item = &ast::Expr> {
    subscripts.iter().filter_map(|subscript| match subscript {
        ast::Subscript::Expr(e) => Some(e),
        _ => None,
    })
}

fn call_parts<'a>(call: &'a ast::Call, visit: &mut dyn FnMut(&'a ast::Expr)) {
    call.arguments.iter().for_each(&mut *visit);
    call.named.iter().for_each(|n| visit(&n.value));
    ranges(&call.iterators).for_each(visit);
}

/// The expressions that an expression is made of.
fn parts<'a>(expr: &'a ast::Expr, visit: &mut dyn FnMut(&'a ast::Expr)) {
    match &expr.kind {
        ast::ExprKind::Ref(reference) => {
            reference.parts.iter().flat_map(|part| subscripts(&part.subscripts)).for_each(visit);
        }
        ast::ExprKind::Call(call) | ast::ExprKind::PartialFunction(call) => call_parts(call, visit),
        ast::ExprKind::Unary(_, e) => visit(e),
        ast::ExprKind::Binary(_, l, r) => {
            visit(l);
            visit(r);
        }
        ast::ExprKind::If(branches, otherwise) => {
            for (condition, then) in branches {
                visit(condition);
                visit(then);
            }
            visit(otherwise);
        }
        ast::ExprKind::Range { start, step, stop } => {
            visit(start);
            step.iter().for_each(|s| visit(s));
            visit(stop);
        }
        ast::ExprKind::Array(items) => items.iter().for_each(visit),
        ast::ExprKind::Comprehension(body, indices) => {
            visit(body);
            ranges(indices).for_each(visit);
        }
        ast::ExprKind::Matrix(rows) => rows.iter().flatten().for_each(visit),
        ast::ExprKind::Parenthesised(items) => items.iter().flatten().for_each(visit),
        ast::ExprKind::Access { base, subscripts: own, parts } => {
            visit(base);
            subscripts(own).for_each(&mut *visit);
            parts.iter().flat_map(|part| subscripts(&part.subscripts)).for_each(visit);
        }
        ast::ExprKind::Integer(_)
        | ast::ExprKind::Real(_)
        | ast::ExprKind::String(_)
        | ast::ExprKind::Boolean(_)
        | ast::ExprKind::End
        | ast::ExprKind::Error => {}
    }
}
