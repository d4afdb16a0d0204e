//! Units that do not agree (specification 4.9.1 and the chapter on unit expressions): warnings only.
//!
//! ```text
//! Real s(unit = "m"), v(unit = "m/s"), a(unit = "m/s2");
//! equation
//!   der(s) = v;         fine
//!   s + v = 0;          warning: "m" and "m/s"
//! ```
//!
//! Silence is better than a false alarm: literals, variables without a unit and unknown symbols agree with everything,
//! and so does what is computed from them. Radian and 1 are the same; so are differences in degC and K. At most one
//! message an equation.

mod convert;
mod infer;
mod messages;
mod parse;
mod unit;

use std::collections::HashMap;
use std::rc::Rc;

use saltus_base::{Diagnostics, Span};
use saltus_flat::{Equation, EquationKind, Expr, ExprKind, FlatModel, Statement, StatementKind, VarId, Variable};

pub use convert::{Conversion, TEMPERATURES, USUAL};
use infer::{Inference, Inferred};
pub use parse::{Parsed, parse};
pub use unit::Unit;

/// After so many messages the user knows; formatting more costs more than finding them.
const MOST: usize = 200;

/// Checks the units of a model.
pub fn check(model: &FlatModel) -> Diagnostics {
    let mut out = Diagnostics::new();
    let units = declared_units(model, &mut out);
    if units.iter().any(Option::is_some) {
        let mut checker = Checker { model, units: &units, out: &mut out };
        for ((id, variable), unit) in model.variables.iter().zip(&units) {
            checker.declaration(id, variable, unit.as_ref());
        }
        checker.equations(&model.equations);
        checker.equations(&model.initial_equations);
        for algorithm in model.algorithms.iter().chain(&model.initial_algorithms) {
            checker.statements(&algorithm.statements);
        }
    }
    out
}

/// The unit of each variable where it is declared and known. Each wrong text is mentioned once.
fn declared_units(model: &FlatModel, out: &mut Diagnostics) -> Vec<Option<Inferred>> {
    let mut known: HashMap<Rc<str>, Option<Inferred>> = HashMap::new();
    let mut unit_of = |variable: &Variable| {
        let value = variable.attributes.unit.as_ref()?;
        let text = unit_text(value)?;
        if text.is_empty() {
            return None;
        }
        if let Some(found) = known.get(text) {
            return found.clone();
        }
        let text: Rc<str> = text.into();
        let parsed = match parse(&text) {
            Parsed::Known(unit) => Some(Inferred::declared(unit, text.clone())),
            Parsed::Opaque => {
                if let Some(better) = with_dots(&text) {
                    out.push(messages::syntax(value, &text, Some(&better)));
                }
                None
            }
            Parsed::Malformed => {
                out.push(messages::syntax(value, &text, None));
                None
            }
        };
        known.insert(text, parsed.clone());
        parsed
    };
    model.variables.values().map(&mut unit_of).collect()
}

/// A literal, or an array of equal ones.
fn unit_text(value: &Expr) -> Option<&str> {
    match &value.kind {
        ExprKind::String(text) => Some(text),
        ExprKind::Array(items) => {
            let first = unit_text(items.first()?)?;
            items.iter().skip(1).all(|i| unit_text(i) == Some(first)).then_some(first)
        }
        _ => None,
    }
}

/// `N.m` of `Nm`: an unknown symbol that consists of two known ones.
fn with_dots(text: &str) -> Option<String> {
    let is_name = text.chars().all(|c| c.is_ascii_alphabetic());
    let mut cuts = (1..text.len()).filter(|_| is_name).map(|i| text.split_at(i));
    let found = cuts.find(|(a, b)| parse::symbol(a).is_some() && parse::symbol(b).is_some());
    found.map(|(a, b)| format!("{a}.{b}"))
}

struct Checker<'a> {
    model: &'a FlatModel,
    units: &'a [Option<Inferred>],
    out: &'a mut Diagnostics,
}

impl Checker<'_> {
    /// Looks into expressions that stand for themselves: conditions, calls.
    fn alone(&mut self, expr: &Expr) {
        if self.out.len() >= MOST {
            return;
        }
        let mut inference = Inference { model: self.model, units: self.units, found: None };
        inference.infer(expr);
        self.out.extend(inference.found);
    }

    /// Checks both sides and that they agree.
    fn sides(&mut self, left: &Expr, right: &Expr, span: Span, what: &str) {
        if self.out.len() >= MOST {
            return;
        }
        let mut inference = Inference { model: self.model, units: self.units, found: None };
        let a = inference.infer(left);
        let b = inference.infer(right);
        let mut found = inference.found;
        if let (None, Some(a), Some(b)) = (&found, &a, &b) {
            found = messages::compare(self.model, span, what, None, (left, a), (right, b));
        }
        self.out.extend(found);
    }

    fn declaration(&mut self, id: VarId, variable: &Variable, unit: Option<&Inferred>) {
        let attributes = &variable.attributes;
        let values = [
            (&attributes.start, "a variable and its start"),
            (&attributes.min, "a variable and its min"),
            (&attributes.max, "a variable and its max"),
            (&attributes.nominal, "a variable and its nominal"),
            (&variable.binding, "a variable and its value"),
        ];
        for (value, what) in values {
            let Some(value) = value.as_ref().filter(|v| !v.is_literal()) else { continue };
            if self.out.len() >= MOST {
                return;
            }
            let mut inference = Inference { model: self.model, units: self.units, found: None };
            let found_unit = inference.infer(value);
            let mut found = inference.found;
            if let (None, Some(a), Some(b)) = (&found, unit, &found_unit) {
                let name = Expr::new(ExprKind::Var(id), variable.ty.clone(), variable.span);
                found = messages::compare(self.model, value.span, what, None, (&name, a), (value, b));
            }
            self.out.extend(found);
        }
    }

    fn equations(&mut self, list: &[Equation]) {
        for equation in list {
            match &equation.kind {
                EquationKind::Equality { left, right } => {
                    self.sides(left, right, equation.span, "both sides of an equation");
                }
                EquationKind::If { branches, otherwise } => {
                    for (condition, body) in branches {
                        self.alone(condition);
                        self.equations(body);
                    }
                    self.equations(otherwise);
                }
                EquationKind::When { branches } => {
                    for (condition, body) in branches {
                        self.alone(condition);
                        self.equations(body);
                    }
                }
                EquationKind::Reinit { state, value } => {
                    self.sides(state, value, equation.span, "a state and its new value");
                }
                EquationKind::Assert { condition, .. } => self.alone(condition),
                EquationKind::Call(call) => self.alone(call),
                EquationKind::Terminate { .. } => {}
            }
        }
    }

    fn statements(&mut self, list: &[Statement]) {
        for statement in list {
            match &statement.kind {
                StatementKind::Assign { target, value } => {
                    self.sides(target, value, statement.span, "both sides of an assignment");
                }
                StatementKind::If { branches, otherwise } => {
                    for (condition, body) in branches {
                        self.alone(condition);
                        self.statements(body);
                    }
                    self.statements(otherwise);
                }
                StatementKind::When { branches } => {
                    for (condition, body) in branches {
                        self.alone(condition);
                        self.statements(body);
                    }
                }
                StatementKind::For { body, .. } => self.statements(body),
                StatementKind::While { condition, body } => {
                    self.alone(condition);
                    self.statements(body);
                }
                StatementKind::Reinit { state, value } => {
                    self.sides(state, value, statement.span, "a state and its new value");
                }
                StatementKind::Assert { condition, .. } => self.alone(condition),
                StatementKind::Call(call) => self.alone(call),
                StatementKind::Break | StatementKind::Return | StatementKind::Terminate { .. } => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::testing::expect;

    #[track_caller]
    fn says(source: &str, expected: &str) {
        expect(check, source, expected);
    }

    #[test]
    fn sums_relations_and_sides() {
        says(
            "Real s(unit = \"m\"), v(unit = \"m/s\"), a(unit = \"m/s2\"); Boolean b;
equation
  der(s) = v;
  der(v) = v;
  a = 2*(s + v);
  b = a > v and s < v;
  a = if b then v else a;",
            "
W0720 4:3 `der(v) = v`: expected the same unit for both sides of an equation, found \"m.s-2\" for `der(v)` and \"m/s\" for `v`
  4:3 `der(v)`: \"m.s-2\"
  4:12 `v`: \"m/s\"
  hint: check the expression, or correct the `unit` of a declaration
W0720 5:10 `s + v`: expected the same unit for the operands of `s + v`, found \"m\" for `s` and \"m/s\" for `v`
  5:10 `s`: \"m\"
  5:14 `v`: \"m/s\"
  hint: check the expression, or correct the `unit` of a declaration
W0720 6:7 `a > v`: expected the same unit for the operands of `a > v`, found \"m/s2\" for `a` and \"m/s\" for `v`
  6:7 `a`: \"m/s2\"
  6:11 `v`: \"m/s\"
  hint: check the expression, or correct the `unit` of a declaration
W0720 7:7 `if b then v else a`: expected the same unit for the branches of `if b then v else a`, found \"m/s\" for `v` and \"m/s2\" for `a`
  7:17 `v`: \"m/s\"
  7:24 `a`: \"m/s2\"
  hint: check the expression, or correct the `unit` of a declaration",
        );
    }

    #[test]
    fn declarations_and_assignments() {
        says(
            "parameter Real T0(unit = \"K\") = 300, h(unit = \"m\"); Real x(unit = \"s\", start = T0), y(unit = \"s\") = h;
algorithm
  x := h*h;",
            "
W0720 1:80 `T0`: expected the same unit for a variable and its start, found \"s\" for `x` and \"K\" for `T0`
  1:58 `x`: \"s\"
  1:80 `T0`: \"K\"
  hint: check the expression, or correct the `unit` of a declaration
W0720 1:101 `h`: expected the same unit for a variable and its value, found \"s\" for `y` and \"m\" for `h`
  1:85 `y`: \"s\"
  1:101 `h`: \"m\"
  hint: check the expression, or correct the `unit` of a declaration
W0720 3:3 `x := h*h`: expected the same unit for both sides of an assignment, found \"s\" for `x` and \"m2\" for `h * h`
  3:3 `x`: \"s\"
  3:8 `h*h`: \"m2\"
  hint: check the expression, or correct the `unit` of a declaration",
        );
    }

    #[test]
    fn factors() {
        says(
            "Real a(unit = \"mm\"), b(unit = \"m\");
equation
  a = b;
  b = 1000*a;",
            "
W0721 3:3 `a = b`: expected the same unit for both sides of an equation, found \"mm\" for `a` and \"m\" for `b`, which differ by the factor 0.001
  3:3 `a`: \"mm\"
  3:7 `b`: \"m\"
  hint: units are not converted: declare SI units and use `displayUnit` for what is shown",
        );
    }

    #[test]
    fn elementary_functions() {
        says(
            "Real p(unit = \"Pa\"), p0(unit = \"bar\"), w(unit = \"rad/s\"), phi(unit = \"deg\"), y[4];
equation
  y[1] = log(p);
  y[2] = exp(p/p0);
  y[3] = sin(w*time) + cos(phi);
  y[4] = sin(time);",
            "
W0722 3:10 `log(p)`: expected a number without unit in `log`, found `p` with the unit \"Pa\"
  3:14 `p`: \"Pa\"
  hint: divide it by a reference value with the same unit",
        );
    }

    #[test]
    fn unit_texts() {
        says(
            "Real a(unit = \"N*m\"), b(unit = \"Nm\"), c(unit = \"rpm\"), d(unit = \"N*m\");",
            "
H0723 1:15 `\"N*m\"`: expected a unit such as \"N.m\" or \"kg/(m.s2)\", found \"N*m\"
  hint: factors are joined by `.`, exponents follow directly, and one `/` is allowed
H0723 1:32 `\"Nm\"`: expected a unit such as \"N.m\" or \"kg/(m.s2)\", found \"Nm\"
  hint: write \"N.m\"",
        );
    }

    /// What libraries write, in the forms of electrical, mechanical, thermal and fluid components.
    #[test]
    fn nothing_to_say() {
        says(
            "parameter Real R(unit = \"Ohm\"), alpha(unit = \"1/K\"), T_ref(unit = \"K\"), startTime(unit = \"s\");
parameter Real J(unit = \"kg.m2\"), c(unit = \"N.m/rad\"), d(unit = \"N.m.s/rad\"), G(unit = \"W/K\"), k(unit = \"1\");
Real v(unit = \"V\"), i(unit = \"A\"), T(unit = \"K\"), TC(unit = \"degC\"), LossPower(unit = \"W\"), Ract(unit = \"Ohm\");
Real phi(unit = \"rad\"), w(unit = \"rad/s\"), a(unit = \"rad/s2\"), tau(unit = \"N.m\"), y, E(unit = \"J\"), n(unit = \"rpm\");
Real m(unit = \"kg\"), u(unit = \"m/s\"), s(unit = \"m\"), f(unit = \"Hz\"), A(unit = \"m2\"), state[2] = {s, u};
equation
  Ract = R*(1 + alpha*(T - T_ref));
  v = Ract*i;
  LossPower = v*i;
  TC = T - 273.15;
  w = der(phi);
  a = der(w);
  J*a = tau;
  tau = c*phi + d*w + k*tau;
  phi = k;
  E = 0.5*m*u^2;
  E = m*u^2;
  LossPower = G*(T - T_ref) + tau*w;
  f = w;
  n = 60*w;
  s = sqrt(A);
  y = if time < startTime then 0 else sin(2*3.14*f*(time - startTime));
  s = max(s, 1e-3);
  u = abs(u) + der(s);",
            "",
        );
    }
}
