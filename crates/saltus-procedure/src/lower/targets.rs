//! Assignments to arrays and records that are put together from variables.
//!
//! ```text
//! {a, b}[i] := v      ⇒      t := {a, b};  t[i] := v;  a := t[1];  b := t[2]
//! R(p, q) := f(x)     ⇒      t := f(x);    p := t.x;   q := t.y
//! ```
//!
//! The variables of a model are neither records nor arrays of them, so a part of an algorithm section that becomes a function names the
//! variables that such a value consists of. Procedures assign to local variables alone; here the whole becomes one.

use saltus_base::{IdVec, Span};
use saltus_flat::{Expr, ExprKind, Function, Local, LocalId, Statement, StatementKind, Subscript, Type};

/// The function with assignments to local variables and parts of them alone; `None` if it has no others.
pub(super) fn separate(function: &Function) -> Option<Function> {
    if !function.body.iter().any(needs_separation) {
        return None;
    }
    let mut separator = Separator { locals: function.locals.clone() };
    let body = separator.statements(&function.body);
    Some(Function { body, locals: separator.locals, ..function.clone() })
}

fn needs_separation(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Assign { target, .. } => match &target.kind {
            ExprKind::Tuple(items) => items.iter().flatten().any(|item| constructor(item).is_some()),
            _ => constructor(target).is_some(),
        },
        StatementKind::If { branches, otherwise } => {
            branches.iter().flat_map(|(_, body)| body).chain(otherwise).any(needs_separation)
        }
        StatementKind::For { body, .. } | StatementKind::While { body, .. } => body.iter().any(needs_separation),
        _ => false,
    }
}

/// The array or record constructor that a target is, or a part of.
fn constructor(target: &Expr) -> Option<&Expr> {
    let mut root = target;
    while let ExprKind::Index { base, .. } | ExprKind::Field { base, .. } = &root.kind {
        root = base;
    }
    matches!(root.kind, ExprKind::Array(_) | ExprKind::Record(_)).then_some(root)
}

/// `target` with its constructor replaced.
fn with_root(target: &Expr, root: &Expr) -> Expr {
    let mut copy = target.clone();
    match &mut copy.kind {
        ExprKind::Index { base, .. } | ExprKind::Field { base, .. } => {
            **base = with_root(base, root);
            copy
        }
        _ => root.clone(),
    }
}

struct Separator {
    locals: IdVec<LocalId, Local>,
}

impl Separator {
    fn statements(&mut self, statements: &[Statement]) -> Vec<Statement> {
        let mut all = Vec::with_capacity(statements.len());
        for statement in statements {
            self.statement(statement, &mut all);
        }
        all
    }

    fn statement(&mut self, statement: &Statement, all: &mut Vec<Statement>) {
        let span = statement.span;
        if !needs_separation(statement) {
            all.push(statement.clone());
            return;
        }
        let kind = match &statement.kind {
            StatementKind::Assign { target, value } => return self.assign(target, value.clone(), span, all),
            StatementKind::If { branches, otherwise } => StatementKind::If {
                branches: branches.iter().map(|(c, body)| (c.clone(), self.statements(body))).collect(),
                otherwise: self.statements(otherwise),
            },
            StatementKind::For { local, range, body } => {
                StatementKind::For { local: *local, range: range.clone(), body: self.statements(body) }
            }
            StatementKind::While { condition, body } => {
                StatementKind::While { condition: condition.clone(), body: self.statements(body) }
            }
            other => other.clone(),
        };
        all.push(Statement { kind, span });
    }

    fn assign(&mut self, target: &Expr, value: Expr, span: Span, all: &mut Vec<Statement>) {
        if let ExprKind::Tuple(items) = &target.kind {
            let mut later = Vec::new();
            let replaced = items.iter().map(|item| {
                let item = item.as_ref()?;
                if constructor(item).is_none() {
                    return Some(item.clone());
                }
                let whole = self.whole(&item.ty, item.span);
                later.push((item, whole.clone()));
                Some(whole)
            });
            let tuple = Expr::new(ExprKind::Tuple(replaced.collect()), target.ty.clone(), target.span);
            all.push(Statement { kind: StatementKind::Assign { target: tuple, value }, span });
            return later.into_iter().for_each(|(item, whole)| self.assign(item, whole, span, all));
        }
        let Some(root) = constructor(target) else {
            all.push(Statement { kind: StatementKind::Assign { target: target.clone(), value }, span });
            return;
        };
        let whole = self.whole(&root.ty, root.span);
        let is_part = !std::ptr::eq(root, target);
        let first = if is_part { root.clone() } else { value.clone() };
        all.push(Statement { kind: StatementKind::Assign { target: whole.clone(), value: first }, span });
        if is_part {
            let target = with_root(target, &whole);
            all.push(Statement { kind: StatementKind::Assign { target, value }, span });
        }
        self.distribute(root, &whole, span, all);
    }

    /// Gives the parts of a constructor those of `value`.
    fn distribute(&mut self, constructor: &Expr, value: &Expr, span: Span, all: &mut Vec<Statement>) {
        let part = |kind: ExprKind, item: &Expr| Expr::new(kind, item.ty.clone(), value.span);
        match &constructor.kind {
            ExprKind::Array(items) => {
                for (k, item) in items.iter().enumerate() {
                    let subscripts = vec![Subscript::Index(Expr::integer(k as i64 + 1, value.span))];
                    let kind = ExprKind::Index { base: Box::new(value.clone()), subscripts };
                    self.distribute(item, &part(kind, item), span, all);
                }
            }
            ExprKind::Record(fields) => {
                for (k, item) in fields.iter().enumerate() {
                    let kind = ExprKind::Field { base: Box::new(value.clone()), field: k as u32 };
                    self.distribute(item, &part(kind, item), span, all);
                }
            }
            _ => self.assign(constructor, value.clone(), span, all),
        }
    }

    /// A local variable for the value of a constructor.
    fn whole(&mut self, ty: &Type, span: Span) -> Expr {
        let name = format!("whole {}", self.locals.len() + 1);
        let local = self.locals.push(Local { name, ty: ty.clone(), sizes: vec![None; ty.rank()], default: None, span });
        Expr::new(ExprKind::Local(local), ty.clone(), span)
    }
}
