//! Values of expressions in annotations, as far as parameters and constants with bindings decide them.
//!
//! ```modelica
//! parameter Boolean useHeatPort = false;
//! annotation(Icon(graphics={Line(visible=useHeatPort, points={{0, -100}, {0, -30}})}));
//! ```
//!
//! `visible` is false here, and true in a component that is modified by `useHeatPort = true`. What depends on more than that
//! (variables, functions with loops) has no value, which is not a mistake.

use saltus_base::Name;
use saltus_frontend::{Declaration, Scope, Scopes, Symbol};
use saltus_library::Library;
use saltus_syntax::ast::{BinaryOp, Call, ComponentRef, Expr, ExprKind, Subscript, UnaryOp};

use crate::functions::Frame;
use crate::text;

/// Bindings that refer to bindings; more are a cycle.
const DEEPEST: usize = 60;

/// Elements of all arrays of an expression.
const MOST_ELEMENTS: usize = 100_000;

#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    Number(f64),
    Boolean(bool),
    String(String),
    /// The literal of an enumeration, without its type.
    Literal(String),
    Array(Vec<Value>),
}

impl Value {
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Number(x) => Some(*x),
            _ => None,
        }
    }

    pub fn boolean(&self) -> Option<bool> {
        match self {
            Value::Boolean(b) => Some(*b),
            _ => None,
        }
    }

    pub fn array(&self) -> Option<&[Value]> {
        match self {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }
}

/// Names of the enumerations that annotations use, whose literals no class declares.
const GRAPHICAL: [&str; 8] =
    ["LinePattern", "FillPattern", "BorderPattern", "Smooth", "EllipseClosure", "Arrow", "TextStyle", "TextAlignment"];

/// Values of variables at a moment of a simulation, by their full names as in `tank.level` or `R.T[1,2]`.
pub type Moment<'v> = &'v dyn Fn(&str) -> Option<Value>;

pub struct Evaluator<'s, 'a> {
    pub scopes: &'s mut Scopes<'a>,
    /// The moment that `DynamicSelect` is about, and the components that the text belongs to.
    moment: Option<(Moment<'s>, &'s [String])>,
    /// Inside of the second argument of `DynamicSelect`, in the text that it stands in.
    pub(crate) is_dynamic: bool,
    /// Of the function that is carried out.
    pub(crate) frame: Option<Frame>,
    pub(crate) n_calls: usize,
    depth: usize,
    n_elements: usize,
}

impl<'s, 'a> Evaluator<'s, 'a> {
    pub fn new(scopes: &'s mut Scopes<'a>) -> Self {
        Self { scopes, moment: None, is_dynamic: false, frame: None, n_calls: 0, depth: 0, n_elements: 0 }
    }

    /// With values for the second arguments of `DynamicSelect`.
    pub fn at(self, moment: Option<Moment<'s>>, path: &'s [String]) -> Self {
        Self { moment: moment.map(|moment| (moment, path)), ..self }
    }

    fn library(&self) -> &'a Library {
        self.scopes.library()
    }

    fn text(&self, name: Name) -> &'a str {
        self.library().text(name)
    }

    /// The value of an expression in the text of a class.
    pub fn value(&mut self, scope: Scope, expr: &Expr) -> Option<Value> {
        if self.depth >= DEEPEST {
            return None;
        }
        self.depth += 1;
        let value = self.value_inside(scope, expr);
        self.depth -= 1;
        value
    }

    fn value_inside(&mut self, scope: Scope, expr: &Expr) -> Option<Value> {
        match &expr.kind {
            ExprKind::Integer(i) => Some(Value::Number(*i as f64)),
            ExprKind::Real(x) => Some(Value::Number(*x)),
            ExprKind::String(text) => Some(Value::String(text.to_string())),
            ExprKind::Boolean(b) => Some(Value::Boolean(*b)),
            ExprKind::Ref(reference) => self.reference(scope, reference),
            ExprKind::Unary(op, of) => {
                let of = self.value(scope, of)?;
                unary(*op, of)
            }
            ExprKind::Binary(op, left, right) => {
                let left = self.value(scope, left)?;
                match (op, &left) {
                    (BinaryOp::And, Value::Boolean(false)) | (BinaryOp::Or, Value::Boolean(true)) => return Some(left),
                    _ => {}
                }
                let right = self.value(scope, right)?;
                binary(*op, &left, &right)
            }
            ExprKind::If(branches, otherwise) => {
                for (condition, value) in branches {
                    if self.value(scope, condition)?.boolean()? {
                        return self.value(scope, value);
                    }
                }
                self.value(scope, otherwise)
            }
            ExprKind::Array(items) => {
                let values = items.iter().map(|item| self.value(scope, item)).collect::<Option<Vec<_>>>()?;
                self.array(values)
            }
            ExprKind::Matrix(rows) => {
                let mut values = Vec::new();
                for row in rows {
                    let row = row.iter().map(|item| self.value(scope, item)).collect::<Option<Vec<_>>>()?;
                    values.push(self.array(row)?);
                }
                self.array(values)
            }
            ExprKind::Parenthesised(items) => match items.as_slice() {
                [Some(inner)] => self.value(scope, inner),
                _ => None,
            },
            ExprKind::Call(call) => self.call(scope, call),
            _ => None,
        }
    }

    fn array(&mut self, items: Vec<Value>) -> Option<Value> {
        self.n_elements += items.len();
        (self.n_elements <= MOST_ELEMENTS).then_some(Value::Array(items))
    }

    fn reference(&mut self, scope: Scope, reference: &ComponentRef) -> Option<Value> {
        if let [kind, literal] = reference.parts.as_slice()
            && GRAPHICAL.contains(&self.text(kind.name.name))
        {
            return Some(Value::Literal(self.text(literal.name.name).to_owned()));
        }
        if self.is_dynamic
            && let Some(value) = self.present(scope, reference)
        {
            return Some(value);
        }
        let local = match reference.parts.as_slice() {
            [part] if !reference.is_global => self.local(part.name.name),
            _ => None,
        };
        let mut value = match local {
            Some(value) => value,
            None => {
                let symbol = self.symbol(scope, reference)?;
                self.value_of(symbol)?
            }
        };
        for subscript in reference.parts.last().map_or(&[][..], |part| part.subscripts.as_slice()) {
            let Subscript::Expr(index) = subscript else { return None };
            let index = self.value(scope, index)?.number()?;
            let items = value.array()?;
            value = items.get((index as usize).checked_sub(1)?)?.clone();
        }
        Some(value)
    }

    /// The value of a variable at the moment that is drawn.
    fn present(&mut self, scope: Scope, reference: &ComponentRef) -> Option<Value> {
        let (moment, path) = self.moment?;
        let mut name = path.join(".");
        for part in &reference.parts {
            if !name.is_empty() {
                name.push('.');
            }
            name.push_str(self.text(part.name.name));
            let mut indices = Vec::new();
            for subscript in &part.subscripts {
                let Subscript::Expr(index) = subscript else { return None };
                indices.push(self.value(scope, index)?.number()?.to_string());
            }
            if !indices.is_empty() {
                name.push_str(&format!("[{}]", indices.join(",")));
            }
        }
        if let Some(value) = moment(&name) {
            return Some(value);
        }
        // A whole vector.
        let elements: Vec<Value> = (1..=MOST_ELEMENTS).map_while(|i| moment(&format!("{name}[{i}]"))).collect();
        if elements.is_empty() { None } else { self.array(elements) }
    }

    /// What a name means in the text of a class; of arrays of components all elements are alike here.
    pub fn symbol(&mut self, scope: Scope, reference: &ComponentRef) -> Option<Symbol> {
        let (first, rest) = reference.parts.split_first()?;
        let mut symbol = match reference.is_global {
            true => self.scopes.member(self.scopes.root(), first.name.name)?,
            false => self.scopes.lookup(scope, first.name.name)?,
        };
        for part in rest {
            let inside = self.scopes.inside(symbol)?;
            symbol = self.scopes.member(inside, part.name.name)?;
        }
        Some(symbol)
    }

    /// The value that a parameter or constant is bound to, or the literal of an enumeration.
    pub fn value_of(&mut self, symbol: Symbol) -> Option<Value> {
        if let Declaration::Literal { literal, .. } = self.scopes.declaration(symbol)? {
            return Some(Value::Literal(self.text(literal.name.name).to_owned()));
        }
        let (expr, scope) = self.scopes.binding(symbol, None)?;
        // It may stand in the text of another class.
        let was_dynamic = std::mem::take(&mut self.is_dynamic);
        let frame = self.frame.take();
        let value = self.value(scope, expr);
        (self.is_dynamic, self.frame) = (was_dynamic, frame);
        value
    }

    fn call(&mut self, scope: Scope, call: &Call) -> Option<Value> {
        let [part] = call.name.parts.as_slice() else { return self.function(scope, call) };
        let name = self.text(part.name.name);
        if name == "DynamicSelect" {
            if let Some(dynamic) = call.arguments.get(1).filter(|_| self.moment.is_some()) {
                let was_dynamic = std::mem::replace(&mut self.is_dynamic, true);
                let value = self.value(scope, dynamic);
                self.is_dynamic = was_dynamic;
                if value.is_some() {
                    return value;
                }
            }
            return self.value(scope, call.arguments.first()?);
        }
        if name != "String" && self.symbol(scope, &call.name).is_some() {
            return self.function(scope, call);
        }
        if !call.iterators.is_empty() || !(call.named.is_empty() || name == "String") {
            return None;
        }
        let arguments = call.arguments.iter().map(|e| self.value(scope, e)).collect::<Option<Vec<_>>>()?;
        if name == "String" {
            let mut named = Vec::new();
            for argument in &call.named {
                named.push((self.text(argument.name.name), self.value(scope, &argument.value)?));
            }
            return text::string(&arguments, &named).map(Value::String);
        }
        apply(name, &arguments)
    }
}

fn unary(op: UnaryOp, of: Value) -> Option<Value> {
    Some(match (op, of) {
        (UnaryOp::Not, Value::Boolean(b)) => Value::Boolean(!b),
        (UnaryOp::Plus | UnaryOp::ElementPlus, of @ (Value::Number(_) | Value::Array(_))) => of,
        (UnaryOp::Minus | UnaryOp::ElementMinus, Value::Number(x)) => Value::Number(-x),
        (UnaryOp::Minus | UnaryOp::ElementMinus, Value::Array(items)) => {
            Value::Array(items.into_iter().map(|item| unary(op, item)).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

fn binary(op: BinaryOp, left: &Value, right: &Value) -> Option<Value> {
    use BinaryOp::*;
    let elements = |a: &[Value], b: &[Value]| -> Option<Value> {
        (a.len() == b.len()).then_some(())?;
        Some(Value::Array(a.iter().zip(b).map(|(a, b)| binary(op, a, b)).collect::<Option<_>>()?))
    };
    Some(match (left, right) {
        (Value::Number(a), Value::Number(b)) => match op {
            Add | ElementAdd => Value::Number(a + b),
            Subtract | ElementSubtract => Value::Number(a - b),
            Multiply | ElementMultiply => Value::Number(a * b),
            Divide | ElementDivide => Value::Number(a / b),
            Power | ElementPower => Value::Number(a.powf(*b)),
            Less => Value::Boolean(a < b),
            LessEqual => Value::Boolean(a <= b),
            Greater => Value::Boolean(a > b),
            GreaterEqual => Value::Boolean(a >= b),
            Equal => Value::Boolean(a == b),
            NotEqual => Value::Boolean(a != b),
            And | Or => return None,
        },
        (Value::Boolean(a), Value::Boolean(b)) => match op {
            And => Value::Boolean(*a && *b),
            Or => Value::Boolean(*a || *b),
            Equal => Value::Boolean(a == b),
            NotEqual => Value::Boolean(a != b),
            _ => return None,
        },
        (Value::String(a), Value::String(b)) => match op {
            Add => Value::String(format!("{a}{b}")),
            Equal => Value::Boolean(a == b),
            NotEqual => Value::Boolean(a != b),
            _ => return None,
        },
        (Value::Literal(a), Value::Literal(b)) => match op {
            Equal => Value::Boolean(a == b),
            NotEqual => Value::Boolean(a != b),
            _ => return None,
        },
        (Value::Array(a), Value::Array(b)) => match op {
            Add | Subtract | ElementAdd | ElementSubtract | ElementMultiply | ElementDivide => elements(a, b)?,
            _ => return None,
        },
        (Value::Array(a), Value::Number(_)) if matches!(op, Multiply | Divide | ElementMultiply | ElementDivide) => {
            Value::Array(a.iter().map(|a| binary(op, a, right)).collect::<Option<_>>()?)
        }
        (Value::Number(_), Value::Array(b)) if matches!(op, Multiply | ElementMultiply) => {
            Value::Array(b.iter().map(|b| binary(op, left, b)).collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

pub(crate) fn apply(name: &str, arguments: &[Value]) -> Option<Value> {
    let numbers: Option<Vec<f64>> = arguments.iter().map(Value::number).collect();
    if let Some(numbers) = &numbers {
        let value = match (name, numbers.as_slice()) {
            ("abs", [x]) => x.abs(),
            ("sign", [x]) => {
                if *x == 0.0 {
                    0.0
                } else {
                    x.signum()
                }
            }
            ("sqrt", [x]) => x.sqrt(),
            ("sin", [x]) => x.sin(),
            ("cos", [x]) => x.cos(),
            ("tan", [x]) => x.tan(),
            ("asin", [x]) => x.asin(),
            ("acos", [x]) => x.acos(),
            ("atan", [x]) => x.atan(),
            ("atan2", [y, x]) => y.atan2(*x),
            ("exp", [x]) => x.exp(),
            ("log", [x]) => x.ln(),
            ("log10", [x]) => x.log10(),
            ("floor" | "integer", [x]) => x.floor(),
            ("ceil", [x]) => x.ceil(),
            ("min", [x, y]) => x.min(*y),
            ("max", [x, y]) => x.max(*y),
            ("mod", [x, y]) => x - (x / y).floor() * y,
            ("rem", [x, y]) => x % y,
            ("div", [x, y]) => (x / y).trunc(),
            _ => return None,
        };
        return Some(Value::Number(value));
    }
    match (name, arguments) {
        ("size", [Value::Array(items), Value::Number(1.0)]) => Some(Value::Number(items.len() as f64)),
        ("min", [Value::Array(items)]) => folded(items, f64::min),
        ("max", [Value::Array(items)]) => folded(items, f64::max),
        ("sum", [Value::Array(items)]) => folded(items, |a, b| a + b),
        _ => None,
    }
}

fn folded(items: &[Value], f: impl Fn(f64, f64) -> f64) -> Option<Value> {
    let numbers: Vec<f64> = items.iter().map(Value::number).collect::<Option<_>>()?;
    numbers.into_iter().reduce(f).map(Value::Number)
}

/// A value as people read it: six digits, literals without their type.
pub fn shown(value: &Value) -> String {
    match value {
        Value::Number(x) => shown_number(*x),
        Value::Boolean(b) => b.to_string(),
        Value::String(text) | Value::Literal(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(shown).collect();
            format!("{{{}}}", items.join(", "))
        }
    }
}

pub fn shown_number(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{x}").replace("-0", "0");
    }
    let exponent = x.abs().log10().floor();
    if (-4.0..6.0).contains(&exponent) {
        let decimals = (5.0 - exponent).max(0.0) as usize;
        let text = format!("{x:.decimals$}");
        return if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text };
    }
    let text = format!("{x:.5e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{}e{exponent}", mantissa.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use saltus_library::MemoryFiles;
    use saltus_syntax::ast::ClassBody;

    /// The value of the annotation `v` of the last class.
    fn value(text: &str) -> Option<Value> {
        let library = Library::new(Box::new(MemoryFiles::new()));
        library.load_text("test.mo", text);
        let mut scopes = Scopes::new(&library);
        let class = library.find("M")?;
        let scope = scopes.class_scope(class)?;
        let ClassBody::Long(body) = &library.definition(class)?.body else { return None };
        let given =
            saltus_library::annotations::named(&body.annotation.as_ref()?.modification, library.intern("v")).next()?;
        let expr = given.modification.as_ref()?.value.as_ref()?.expr.as_ref()?;
        Evaluator::new(&mut scopes).value(scope, expr)
    }

    #[test]
    fn parameters_and_modifications_decide() {
        let text = "model A parameter Boolean b = false; parameter Integer n = 2; end A;
            model M extends A(n = 3); A a(b = n > 2);
            annotation(v = {if a.b then 10*n else 0, -max(n, 7), a.n});
            end M;";
        let numbers = [30.0, -7.0, 2.0].map(Value::Number).to_vec();
        assert_eq!(value(text), Some(Value::Array(numbers)));
    }

    #[test]
    fn functions_of_assignments_have_values() {
        let functions = "package P constant Real k = 2*Q.half(10);
              package Q function half input Real u; output Real y; algorithm y := u/2; end half; end Q;
              function asin input Real u; output Real y; external \"builtin\" y = asin(u); end asin;
              function least input Real a; input Real b = 3; output Real y; protected Real c = k*a; algorithm
                if c < b then y := c; return; elseif b < 0 then y := 0; else y := b; end if; y := y + 1; end least;
              function sum input Integer n; output Real y; algorithm y := 0; for i in 1:n loop y := y + i; end for; end sum;
              function again input Real n; output Real y; algorithm y := again(n) + again(n); end again; end P;";
        let of =
            |expr: &str| value(&format!("{functions} model M parameter Real k = 7; annotation(v = {expr}); end M;"));
        // k of the package is 10: 10*0.1 < 3; 3 + 1; 10*0.2 < 2.5; k of the model is another one.
        assert_eq!(of("P.least(0.1)"), Some(Value::Number(1.0)));
        assert_eq!(of("P.least(k)"), Some(Value::Number(4.0)));
        assert_eq!(of("P.least(b = 2.5, a = 0.2)"), Some(Value::Number(2.0)));
        assert_eq!(of("2*P.asin(1.0)"), Some(Value::Number(std::f64::consts::PI)));
        for unknown in ["P.sum(3)", "P.again(1)", "P.least(1, 2, 3)", "P.missing(1)", "P.least()"] {
            assert_eq!(of(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn enumerations_are_their_literals() {
        let text = "type E = enumeration(a, b); model M parameter E e = E.b; annotation(v = if e == E.b then LinePattern.Dash else LinePattern.None); end M;";
        assert_eq!(value(text), Some(Value::Literal("Dash".into())));
    }

    #[test]
    fn what_is_not_known_has_no_value() {
        assert_eq!(value("model M Real x; parameter Real p; annotation(v = x); end M;"), None);
        assert_eq!(value("model M parameter Real p = q; parameter Real q = p; annotation(v = p); end M;"), None);
        assert_eq!(value("model M annotation(v = missing.name); end M;"), None);
        assert_eq!(value("model M Real x; annotation(v = DynamicSelect(1, x)); end M;"), Some(Value::Number(1.0)));
    }

    #[test]
    fn numbers_are_short() {
        let numbers = [1.0, 100.0, 0.1, 1e-3, 1e-6, 2.5e8, -1.0 / 3.0, 123456.0, 0.0];
        let shown = numbers.map(shown_number);
        assert_eq!(shown, ["1", "100", "0.1", "0.001", "1e-6", "2.5e8", "-0.333333", "123456", "0"]);
    }
}
