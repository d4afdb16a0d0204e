//! A flat model as JSON for tools: variables with all attributes, equations as text with their origin.
//!
//! In: a [`FlatModel`]. Out: one JSON object with a stable key order, one variable or equation a line:
//!
//! ```text
//! {"name": "Ball", "description": "", "variables": [
//! {"name":"h","type":"Real","dims":[],"variability":"continuous", … "span":{"file":0,"start":12,"end":13}},
//! …
//! ```
//!
//! Spans are byte offsets with the session's file number, `null` where nothing was written. Attribute values, bindings
//! and equations are Modelica text.

use saltus_base::{Index, Span};

use crate::count::{Balance, balance};
use crate::print::{ModelNames, base_type_name, print_algorithm, print_equation};
use crate::print_expr::print_expr;
use crate::{Algorithm, Causality, Equation, EquationKind, Expr, FlatModel, Origin, Prefix, Variability, Variable};

pub fn to_json(model: &FlatModel) -> String {
    let mut out = String::new();
    out.push_str(&format!("{{\"name\": {}, \"description\": {}", string(&model.name), string(&model.description)));
    list(&mut out, "variables", model.variables.values().map(|v| variable(model, v)));
    list(&mut out, "initialEquations", model.initial_equations.iter().map(|e| equation(model, e)));
    list(&mut out, "equations", model.equations.iter().map(|e| equation(model, e)));
    list(&mut out, "initialAlgorithms", model.initial_algorithms.iter().map(|a| algorithm(model, a)));
    list(&mut out, "algorithms", model.algorithms.iter().map(|a| algorithm(model, a)));
    out.push_str(&format!(",\n\"balance\": {}", balance_object(&balance(model))));
    out.push_str(&format!(",\n\"experiment\": {}}}\n", experiment(model)));
    out
}

fn list(out: &mut String, key: &str, items: impl std::iter::Iterator<Item = String>) {
    let items: Vec<String> = items.collect();
    out.push_str(&format!(",\n\"{key}\": ["));
    for (i, item) in items.iter().enumerate() {
        out.push_str(if i == 0 { "\n" } else { ",\n" });
        out.push_str(item);
    }
    out.push(']');
}

fn variable(model: &FlatModel, v: &Variable) -> String {
    let names = ModelNames::new(model);
    let text = |e: &Expr| string(&print_expr(&names, e));
    let dims: Vec<String> = v.ty.dims.iter().map(|d| d.known().map_or("null".into(), |n| n.to_string())).collect();
    let attributes: Vec<String> = v.attributes.iter().map(|(name, e)| format!("\"{name}\":{}", text(e))).collect();
    let fields = [
        ("name", string(&v.name)),
        ("type", string(&base_type_name(&names, v.ty.base))),
        ("dims", format!("[{}]", dims.join(","))),
        ("variability", string(variability(v.variability))),
        ("causality", string(causality(v.causality))),
        ("prefix", string(prefix(v.prefix))),
        ("attributes", format!("{{{}}}", attributes.join(","))),
        ("binding", v.binding.as_ref().map_or("null".into(), text)),
        ("description", string(&v.description)),
        ("protected", v.is_protected.to_string()),
        ("hideResult", v.hide_result.to_string()),
        ("structural", v.is_structural.to_string()),
        ("final", v.is_final.to_string()),
        ("span", span(v.span)),
    ];
    object(&fields)
}

fn equation(model: &FlatModel, e: &Equation) -> String {
    object(&[
        ("text", string(&print_equation(model, e))),
        ("kind", string(kind(&e.kind))),
        ("origin", string(origin(e.origin))),
        ("component", string(&e.component)),
        ("span", span(e.span)),
    ])
}

fn algorithm(model: &FlatModel, a: &Algorithm) -> String {
    object(&[("text", string(&print_algorithm(model, a))), ("component", string(&a.component)), ("span", span(a.span))])
}

fn balance_object(b: &Balance) -> String {
    object(&[("equations", b.equations.to_string()), ("unknowns", b.unknowns.to_string())])
}

fn experiment(model: &FlatModel) -> String {
    let e = &model.experiment;
    object(&[
        ("startTime", number(e.start_time)),
        ("stopTime", number(e.stop_time)),
        ("interval", number(e.interval)),
        ("tolerance", number(e.tolerance)),
    ])
}

fn object(fields: &[(&str, String)]) -> String {
    let fields: Vec<String> = fields.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
    format!("{{{}}}", fields.join(","))
}

/// JSON has no infinities.
fn number(value: Option<f64>) -> String {
    match value {
        Some(v) if v.is_finite() => format!("{v:?}"),
        _ => "null".into(),
    }
}

fn span(span: Span) -> String {
    if span.is_nowhere() {
        return "null".into();
    }
    format!("{{\"file\":{},\"start\":{},\"end\":{}}}", span.file.index(), span.start, span.end)
}

fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

fn variability(v: Variability) -> &'static str {
    match v {
        Variability::Constant => "constant",
        Variability::Parameter => "parameter",
        Variability::Discrete => "discrete",
        Variability::Continuous => "continuous",
    }
}

fn causality(c: Causality) -> &'static str {
    match c {
        Causality::Local => "local",
        Causality::Input => "input",
        Causality::Output => "output",
    }
}

fn prefix(p: Prefix) -> &'static str {
    match p {
        Prefix::None => "none",
        Prefix::Flow => "flow",
        Prefix::Stream => "stream",
    }
}

fn origin(o: Origin) -> &'static str {
    match o {
        Origin::Declared => "declared",
        Origin::Connection => "connection",
        Origin::Binding => "binding",
    }
}

fn kind(k: &EquationKind) -> &'static str {
    match k {
        EquationKind::Equality { .. } => "equality",
        EquationKind::If { .. } => "if",
        EquationKind::When { .. } => "when",
        EquationKind::Assert { .. } => "assert",
        EquationKind::Terminate { .. } => "terminate",
        EquationKind::Reinit { .. } => "reinit",
        EquationKind::Call(_) => "call",
    }
}
