//! Values of functions in annotations and in the bindings that texts show.
//!
//! ```modelica
//! function from_deg input Real degree; output Real radian; algorithm radian := degree*3.14/180; end from_deg;
//! R r(phi = from_deg(90));  // `%phi` shows 1.57 rad
//! ```
//!
//! Functions of assignments and branches have a value, and external ones that are `"builtin"` or named as functions of the language. Loops,
//! tuples, records and whatever else do not: then a text shows what is written.

use saltus_base::Name;
use saltus_frontend::{Declaration, Scope};
use saltus_syntax::ast::{Call, ClassBody, ComponentRef, Direction, Expr, External, Section, Statement, StatementKind};

use crate::value::{Evaluator, Value, apply};

/// Calls of functions in one value; functions may call themselves.
const MOST_CALLS: usize = 500;

/// Values of the variables of a function while it is carried out.
pub(crate) type Frame = Vec<(Name, Value)>;

/// How a list of statements ended.
enum Flow {
    GoesOn,
    Returns,
}

impl<'a> Evaluator<'_, 'a> {
    pub(crate) fn function(&mut self, scope: Scope, call: &Call) -> Option<Value> {
        self.n_calls += 1;
        if self.n_calls > MOST_CALLS || !call.iterators.is_empty() {
            return None;
        }
        let symbol = self.symbol(scope, &call.name)?;
        let inside = match self.scopes.declaration(symbol)? {
            Declaration::Class { .. } => self.scopes.inside(symbol)?,
            _ => return None,
        };
        let given = call.arguments.iter().map(|e| self.value(scope, e)).collect::<Option<Vec<_>>>()?;
        let mut named = Vec::new();
        for argument in &call.named {
            named.push((argument.name.name, self.value(scope, &argument.value)?));
        }
        let was_dynamic = std::mem::take(&mut self.is_dynamic);
        let outer = self.frame.replace(Frame::new());
        let value = self.carried_out(inside, given, &named);
        (self.frame, self.is_dynamic) = (outer, was_dynamic);
        value
    }

    fn carried_out(&mut self, inside: Scope, given: Vec<Value>, named: &[(Name, Value)]) -> Option<Value> {
        let mut given = given.into_iter();
        let mut output = None;
        for member in self.scopes.members(inside) {
            let Some(Declaration::Component { clause, component, .. }) = self.scopes.declaration(member) else {
                continue;
            };
            let name = component.name.name;
            let argument = match clause.direction {
                Some(Direction::Input) => {
                    given.next().or_else(|| named.iter().find(|(n, _)| *n == name).map(|(_, v)| v.clone()))
                }
                Some(Direction::Output) => {
                    output = output.or(Some(name));
                    None
                }
                None => None,
            };
            let value = match argument {
                Some(value) => Some(value),
                None => match self.scopes.binding(member, None) {
                    Some((expr, scope)) => Some(self.value(scope, expr)?),
                    None => None,
                },
            };
            if let Some(value) = value {
                self.set(name, value);
            }
        }
        if given.next().is_some() {
            return None;
        }
        let definition = self.scopes.library().definition(self.scopes.class_of_scope(inside))?;
        let ClassBody::Long(body) = &definition.body else { return None };
        if let Some(external) = &body.external {
            return self.external(inside, external);
        }
        let mut statements = body.sections.iter().filter_map(|section| match section {
            Section::Algorithm { statements, .. } => Some(statements),
            _ => None,
        });
        self.statements(inside, statements.next()?)?;
        self.local(output?)
    }

    /// `external "builtin" y = asin(u)`: what the language itself has under that name.
    fn external(&mut self, inside: Scope, external: &External) -> Option<Value> {
        let call = external.call.as_ref()?;
        let arguments = call.arguments.iter().map(|e| self.value(inside, e)).collect::<Option<Vec<_>>>()?;
        apply(self.scopes.library().text(call.name.name), &arguments)
    }

    fn statements(&mut self, scope: Scope, statements: &[Statement]) -> Option<Flow> {
        for statement in statements {
            match &statement.kind {
                StatementKind::Assign { target, value } => {
                    let value = self.value(scope, value)?;
                    self.set(plain(target)?, value);
                }
                StatementKind::If { branches, otherwise } => {
                    let chosen = self.branch(scope, branches, otherwise.as_deref())?;
                    if let Flow::Returns = self.statements(scope, chosen)? {
                        return Some(Flow::Returns);
                    }
                }
                StatementKind::Return => return Some(Flow::Returns),
                _ => return None,
            }
        }
        Some(Flow::GoesOn)
    }

    fn branch<'s>(
        &mut self,
        scope: Scope,
        branches: &'s [(Expr, Vec<Statement>)],
        otherwise: Option<&'s [Statement]>,
    ) -> Option<&'s [Statement]> {
        for (condition, body) in branches {
            if self.value(scope, condition)?.boolean()? {
                return Some(body);
            }
        }
        Some(otherwise.unwrap_or_default())
    }

    /// The value of a variable of the function that is carried out.
    pub(crate) fn local(&self, name: Name) -> Option<Value> {
        self.frame.as_ref()?.iter().find(|(n, _)| *n == name).map(|(_, value)| value.clone())
    }

    fn set(&mut self, name: Name, value: Value) {
        let frame = self.frame.get_or_insert_default();
        match frame.iter_mut().find(|(n, _)| *n == name) {
            Some((_, old)) => *old = value,
            None => frame.push((name, value)),
        }
    }
}

/// The name of a variable that is assigned as a whole.
fn plain(target: &ComponentRef) -> Option<Name> {
    match target.parts.as_slice() {
        [part] if part.subscripts.is_empty() => Some(part.name.name),
        _ => None,
    }
}
