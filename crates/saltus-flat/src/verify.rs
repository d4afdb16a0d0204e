//! The invariants of a flat model, listed and checked. A violation is a mistake of the compiler, never of the user.
//!
//! In: a [`FlatModel`]. Out: nothing, or what is wrong and where.
//!
//! 1. Every id is in range: variables, locals, functions, records, enumerations; ordinals and field numbers too.
//! 2. Names are unique: variables, functions, records, enumerations each among themselves.
//! 3. Variables have built-in types (never records) with known sizes; a binding has the type of its variable;
//!    attribute values are scalars or have the variable's dimensions.
//! 4. Every expression's type agrees with its parts (see `verify_expr`).
//! 5. Both sides of an equation, and target and value of an assignment, have equal types; `Tuple` stands only on the
//!    left of a call, with no more entries than results. An Integer result may go to a Real entry, and a value of an enumeration to
//!    one of another with the same literals.
//! 6. Conditions are scalar Booleans; a `when` condition may be a vector.
//! 7. `Local`s outside functions are bound by an enclosing `for` or reduction; those of functions are its own.
//! 8. Targets of assignments are references; `reinit` stands in a `when` only and on a Real variable.
//! 9. Inputs and outputs of a function are distinct locals; a local has one size entry per dimension.
//!
//! The type `Error` agrees with everything: what carries it has been reported to the user.

use std::collections::BTreeSet;

use crate::print::ModelNames;
use crate::print_expr::print_expr;
use crate::verify_expr::{ExprChecker, types_fit};
use crate::{
    BaseType, Dim, Equation, EquationKind, Expr, ExprKind, ExternalArgument, FlatModel, Function, Local, Statement,
    StatementKind, Type, Variable,
};

/// After this many findings the rest is noise.
const MOST_FINDINGS: usize = 100;

pub fn verify(model: &FlatModel) -> Result<(), Vec<String>> {
    let mut verifier = Verifier { model, function: None, place: String::new(), bound: Vec::new(), found: Vec::new() };
    verifier.unique_names();
    verifier.types();
    for variable in model.variables.values() {
        verifier.place = format!("variable {}", variable.name);
        verifier.variable(variable);
    }
    for (title, equations) in [("initial equation", &model.initial_equations), ("equation", &model.equations)] {
        for (i, equation) in equations.iter().enumerate() {
            verifier.place = format!("{title} {}", i + 1);
            verifier.equation(equation, false);
        }
    }
    for (title, algorithms) in [("initial algorithm", &model.initial_algorithms), ("algorithm", &model.algorithms)] {
        for (i, algorithm) in algorithms.iter().enumerate() {
            verifier.place = format!("{title} {}", i + 1);
            verifier.statements(&algorithm.statements, false);
        }
    }
    for function in model.functions.values() {
        verifier.place = format!("function {}", function.name);
        verifier.function = Some(function);
        verifier.function(function);
    }
    if verifier.found.is_empty() { Ok(()) } else { Err(verifier.found) }
}

struct Verifier<'a> {
    model: &'a FlatModel,
    function: Option<&'a Function>,
    /// What is being checked, for the message.
    place: String,
    /// Iteration variables that are in scope outside functions.
    bound: Vec<crate::LocalId>,
    found: Vec<String>,
}

impl<'a> Verifier<'a> {
    fn report(&mut self, text: String) {
        if self.found.len() < MOST_FINDINGS {
            self.found.push(format!("{}: {text}", self.place));
        }
    }

    fn require(&mut self, holds: bool, text: impl FnOnce() -> String) {
        if !holds {
            self.report(text());
        }
    }

    fn text(&self, expr: &Expr) -> String {
        match self.function {
            Some(function) => print_expr(&ModelNames::in_function(self.model, function), expr),
            None => print_expr(&ModelNames::new(self.model), expr),
        }
    }

    fn unique_names(&mut self) {
        let model = self.model;
        let tables: [(&str, Vec<&str>); 4] = [
            ("variables", model.variables.values().map(|v| v.name.as_str()).collect()),
            ("functions", model.functions.values().map(|f| f.name.as_str()).collect()),
            ("records", model.records.values().map(|r| r.name.as_str()).collect()),
            ("enumerations", model.enumerations.values().map(|e| e.name.as_str()).collect()),
        ];
        for (title, names) in tables {
            self.place = title.into();
            let mut seen = BTreeSet::new();
            for name in names {
                self.require(seen.insert(name), || format!("the name {name} occurs twice"));
            }
        }
    }

    fn types(&mut self) {
        let model = self.model;
        for record in model.records.values() {
            self.place = format!("record {}", record.name);
            record.fields.iter().for_each(|f| self.ty(&f.ty));
        }
        self.place = "iterators".into();
        model.iterators.values().for_each(|local| self.local(local));
    }

    fn ty(&mut self, ty: &Type) {
        let model = self.model;
        let in_range = match ty.base {
            BaseType::Enumeration(id) => model.enumerations.get(id).is_some(),
            BaseType::Record(id) => model.records.get(id).is_some(),
            BaseType::ExternalObject(id) => model.functions.get(id).is_some(),
            _ => true,
        };
        self.require(in_range, || format!("type {:?} does not exist", ty.base));
    }

    fn variable(&mut self, v: &'a Variable) {
        self.ty(&v.ty);
        let built_in = !matches!(v.ty.base, BaseType::Record(_) | BaseType::Function | BaseType::Unit);
        self.require(built_in, || format!("has the type {:?}", v.ty.base));
        self.require(v.ty.dims.iter().all(|d| *d != Dim::Unknown), || "has a size that is not known".into());
        for (name, value) in v.attributes.iter() {
            self.expr(value);
            let fits = value.ty.is_scalar() || dims_fit(&value.ty.dims, &v.ty.dims) || value.is_error();
            self.require(fits, || format!("attribute {name} has other dimensions than the variable"));
        }
        if let Some(binding) = &v.binding {
            self.expr(binding);
            self.same_type(&v.ty, &binding.ty, "its value");
        }
    }

    fn expr(&mut self, expr: &'a Expr) {
        let mut checker = ExprChecker::new(self.model, self.function, &mut self.bound);
        checker.check(expr);
        for (text, at) in checker.found {
            let shown = self.text(at);
            self.report(format!("{text} in `{shown}`"));
        }
    }

    fn same_type(&mut self, left: &Type, right: &Type, what: &str) {
        self.require(types_fit(left, right), || format!("{what}: {left:?} against {right:?}"));
    }

    fn condition(&mut self, condition: &'a Expr, may_be_vector: bool) {
        self.expr(condition);
        let is_boolean = matches!(condition.ty.base, BaseType::Boolean | BaseType::Error)
            || may_be_vector && condition.ty.base == BaseType::Clock;
        let is_scalar = condition.ty.is_scalar() || may_be_vector && condition.ty.rank() == 1;
        self.require(is_boolean && is_scalar, || format!("a condition has the type {:?}", condition.ty));
    }

    fn equations(&mut self, equations: &'a [Equation], in_when: bool) {
        equations.iter().for_each(|e| self.equation(e, in_when));
    }

    fn equation(&mut self, equation: &'a Equation, in_when: bool) {
        match &equation.kind {
            EquationKind::Equality { left, right } => self.sides(left, right),
            EquationKind::If { branches, otherwise } => {
                self.require(!branches.is_empty(), || "an if without branches".into());
                for (condition, body) in branches {
                    self.condition(condition, false);
                    self.equations(body, in_when);
                }
                self.equations(otherwise, in_when);
            }
            EquationKind::When { branches } => {
                self.require(!branches.is_empty(), || "a when without branches".into());
                for (condition, body) in branches {
                    self.condition(condition, true);
                    self.equations(body, true);
                }
            }
            EquationKind::Assert { condition, message, level } => self.assert(condition, message, level.as_ref()),
            EquationKind::Terminate { message } => self.expr(message),
            EquationKind::Reinit { state, value } => self.reinit(state, value, in_when),
            EquationKind::Call(call) => self.expr(call),
        }
    }

    /// Both sides of an equation, or target and value of an assignment.
    fn sides(&mut self, left: &'a Expr, right: &'a Expr) {
        if let ExprKind::Tuple(items) = &left.kind {
            self.expr(right);
            self.results(items, right);
            return;
        }
        self.expr(left);
        self.expr(right);
        self.same_type(&left.ty, &right.ty, "the two sides differ");
    }

    fn results(&mut self, items: &'a [Option<Expr>], call: &Expr) {
        let model = self.model;
        match &call.kind {
            ExprKind::Call { function, .. } => {
                let Some(function) = model.functions.get(*function) else { return };
                self.require(items.len() <= function.outputs.len(), || {
                    format!("{} results taken from {}", items.len(), function.name)
                });
                for (item, output) in items.iter().zip(&function.outputs) {
                    if let (Some(item), Some(local)) = (item, function.locals.get(*output)) {
                        self.result(item, &local.ty);
                    }
                }
            }
            // Built-in operators with several results check themselves by their first type only.
            ExprKind::Builtin { .. } | ExprKind::Error => items.iter().flatten().for_each(|item| self.expr(item)),
            _ => self.report("several results are taken from something that is not a call".into()),
        }
    }

    /// The target of a result. Results cannot be wrapped, so whoever takes the call apart converts them.
    fn result(&mut self, item: &'a Expr, result: &Type) {
        let model = self.model;
        if let (ExprKind::Record(items), BaseType::Record(id)) = (&item.kind, result.base)
            && item.ty.base == result.base
            && let Some(record) = model.records.get(id)
        {
            items.iter().zip(&record.fields).for_each(|(item, field)| self.result(item, &field.ty));
            return;
        }
        self.expr(item);
        let converted = match (result.base, item.ty.base) {
            (BaseType::Integer, BaseType::Real) | (BaseType::Enumeration(_), BaseType::Enumeration(_)) => item.ty.base,
            (base, _) => base,
        };
        self.same_type(&item.ty, &Type::array(converted, result.dims.clone()), "a result");
    }

    fn assert(&mut self, condition: &'a Expr, message: &'a Expr, level: Option<&'a Expr>) {
        self.condition(condition, false);
        self.expr(message);
        let is_text = matches!(message.ty.base, BaseType::String | BaseType::Error);
        self.require(is_text, || "the message of an assert is not a String".into());
        if let Some(level) = level {
            self.expr(level);
        }
    }

    fn reinit(&mut self, state: &'a Expr, value: &'a Expr, in_when: bool) {
        self.require(in_when, || "reinit outside a when".into());
        self.expr(state);
        self.expr(value);
        self.require(is_reference(state), || "reinit of something that is not a variable".into());
        let is_real = matches!(state.ty.base, BaseType::Real | BaseType::Error);
        self.require(is_real, || "reinit of a variable that is not Real".into());
        self.same_type(&state.ty, &value.ty, "reinit");
    }

    fn statements(&mut self, statements: &'a [Statement], in_when: bool) {
        for statement in statements {
            match &statement.kind {
                StatementKind::Assign { target, value } => {
                    let ok = match &target.kind {
                        ExprKind::Tuple(items) => items.iter().flatten().all(is_assignable),
                        _ => is_assignable(target),
                    };
                    self.require(ok, || "assignment to something that is not a variable".into());
                    self.sides(target, value);
                }
                StatementKind::If { branches, otherwise } => {
                    for (condition, body) in branches {
                        self.condition(condition, false);
                        self.statements(body, in_when);
                    }
                    self.statements(otherwise, in_when);
                }
                StatementKind::When { branches } => {
                    for (condition, body) in branches {
                        self.condition(condition, true);
                        self.statements(body, true);
                    }
                }
                StatementKind::For { local, range, body } => {
                    self.expr(range);
                    let is_vector = range.ty.rank() == 1 || range.is_error();
                    self.require(is_vector, || "the range of a for is not a vector".into());
                    self.bound.push(*local);
                    self.statements(body, in_when);
                    self.bound.pop();
                }
                StatementKind::While { condition, body } => {
                    self.condition(condition, false);
                    self.statements(body, in_when);
                }
                StatementKind::Break | StatementKind::Return => {}
                StatementKind::Assert { condition, message, level } => self.assert(condition, message, level.as_ref()),
                StatementKind::Terminate { message } => self.expr(message),
                StatementKind::Reinit { state, value } => self.reinit(state, value, in_when),
                StatementKind::Call(call) => self.expr(call),
            }
        }
    }

    fn local(&mut self, local: &'a Local) {
        self.ty(&local.ty);
        self.require(local.sizes.is_empty() || local.sizes.len() == local.ty.dims.len(), || {
            format!("{} has {} sizes for {} dimensions", local.name, local.sizes.len(), local.ty.dims.len())
        });
        for expr in local.sizes.iter().flatten().chain(&local.default) {
            self.expr(expr);
        }
        if let Some(default) = &local.default {
            self.same_type(&local.ty, &default.ty, "a default");
        }
    }

    fn function(&mut self, function: &'a Function) {
        let mut seen = BTreeSet::new();
        for id in function.inputs.iter().chain(&function.outputs) {
            self.require(function.locals.get(*id).is_some(), || format!("{id:?} is not a local of the function"));
            let is_first = seen.insert(*id);
            self.require(is_first || function.is_record_constructor, || format!("{id:?} is given twice"));
        }
        function.locals.values().for_each(|local| self.local(local));
        self.statements(&function.body, false);
        for argument in function.external.iter().flat_map(|e| &e.arguments) {
            match argument {
                ExternalArgument::Input(e) => self.expr(e),
                ExternalArgument::Output(id) => {
                    self.require(function.locals.get(*id).is_some(), || format!("{id:?} is not a local"));
                }
            }
        }
        let model = self.model;
        let related =
            function.derivatives.iter().map(|d| d.function).chain(function.inverses.iter().map(|i| i.function));
        for id in related {
            self.require(model.functions.get(id).is_some(), || format!("{id:?} does not exist"));
        }
    }
}

/// A reference, or an array or record of them: what is left of a component that was taken apart into its variables, with the values
/// of its constants.
fn is_assignable(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Record(items) => items.iter().all(|item| is_literal(item) || is_assignable(item)),
        ExprKind::Array(items) => items.iter().all(is_assignable),
        _ => is_reference(expr),
    }
}

fn is_literal(expr: &Expr) -> bool {
    use ExprKind as K;
    matches!(expr.kind, K::Real(_) | K::Integer(_) | K::Boolean(_) | K::String(_) | K::EnumLiteral(..))
}

/// Built from `Var`/`Local`, `Index` and `Field`, or a part of several such.
fn is_reference(expr: &Expr) -> bool {
    let mut current = expr;
    loop {
        match &current.kind {
            ExprKind::Var(_) | ExprKind::Local(_) | ExprKind::Error => return true,
            ExprKind::Index { base, .. } | ExprKind::Field { base, .. } => current = base,
            // `r[i].x` of components is `{r[1].x, r[2].x}[i]`.
            ExprKind::Array(_) | ExprKind::Record(_) => return is_assignable(current),
            _ => return false,
        }
    }
}

fn dims_fit(a: &[Dim], b: &[Dim]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.fits(*b))
}
