//! Connections as small texts. One line each:
//!
//! ```text
//! [protected] [expandable|implied] [input|output|flow|stream] [parameter|constant] <type>[sizes] <name> [key=value …]
//! connect <end> <end>        an end is a name, an element `name[3]` (row-major, from 1), `^name` seen as outside
//! each <end> <end> <box>     a box of pairs: for each dimension `n:a:b`, how many and by how many elements the ends move on
//! fold <n>                   families of at least so many sets
//! zero <end>                 a flow variable of an expandable connector, added with this face too
//! ```
//!
//! All flow variables are added with the inside face. Keys: `min`, `max`, `nominal`, `quantity`, `carrier` (the flow
//! variable of a stream). Line `i` (from 1) has the span `10 i .. 10 i + 5`.

// Each test file uses its own part of this module.
#![allow(dead_code)]

use std::collections::BTreeMap;

use saltus_base::{FileId, Index, Span};
use saltus_connect::{Connected, ConnectionSets, Direction, End, Face, Folding, Kind, Stride, Variables};
use saltus_flat::print::print_equation;
use saltus_flat::{
    BaseType, Dim, EnumId, EnumType, Expr, FlatModel, Local, ModelNames, Type, VarId, Variability, build, print_expr,
    verify,
};

pub struct Info {
    kind: Kind,
    direction: Direction,
    is_protected: bool,
    is_expandable: bool,
    is_implied: bool,
    span: Span,
    keys: BTreeMap<String, String>,
}

pub struct Case {
    pub model: FlatModel,
    infos: Vec<Info>,
    pub result: Connected,
}

struct Table<'a>(&'a FlatModel, &'a [Info]);

impl Table<'_> {
    fn info(&self, var: VarId) -> &Info {
        &self.1[var.index()]
    }
    fn number(&self, var: VarId, key: &str) -> Option<f64> {
        self.info(var).keys.get(key).map(|text| text.parse().unwrap())
    }
}

impl Variables for Table<'_> {
    fn kind(&self, var: VarId) -> Kind {
        self.info(var).kind
    }
    fn ty(&self, var: VarId) -> &Type {
        &self.0.variables[var].ty
    }
    fn name(&self, var: VarId) -> &str {
        &self.0.variables[var].name
    }
    fn variability(&self, var: VarId) -> Variability {
        self.0.variables[var].variability
    }
    fn direction(&self, var: VarId) -> Direction {
        self.info(var).direction
    }
    fn is_protected(&self, var: VarId) -> bool {
        self.info(var).is_protected
    }
    fn is_expandable(&self, var: VarId) -> bool {
        self.info(var).is_expandable
    }
    fn is_implied(&self, var: VarId) -> bool {
        self.info(var).is_implied
    }
    fn flow_min(&self, var: VarId) -> Option<f64> {
        self.number(var, "min")
    }
    fn flow_max(&self, var: VarId) -> Option<f64> {
        self.number(var, "max")
    }
    fn flow_nominal(&self, var: VarId) -> Option<f64> {
        self.number(var, "nominal")
    }
    fn quantity(&self, var: VarId) -> Option<&str> {
        self.info(var).keys.get("quantity").map(String::as_str)
    }
    fn span(&self, var: VarId) -> Span {
        self.info(var).span
    }
}

pub fn line_span(line: usize) -> Span {
    Span::new(FileId::from_usize(0), 10 * line as u32, 10 * line as u32 + 5)
}

fn base_type(text: &str) -> BaseType {
    match text {
        "Real" => BaseType::Real,
        "Integer" => BaseType::Integer,
        "Boolean" => BaseType::Boolean,
        "String" => BaseType::String,
        "Colour" => BaseType::Enumeration(EnumId::from_usize(0)),
        "Error" => BaseType::Error,
        other => panic!("type {other}"),
    }
}

fn declare(builder: &mut build::Builder, line: &str, span: Span) -> Info {
    let mut info = Info {
        kind: Kind::Potential,
        direction: Direction::None,
        is_protected: false,
        is_expandable: false,
        is_implied: false,
        span,
        keys: BTreeMap::new(),
    };
    let (mut variability, mut is_stream) = (Variability::Continuous, false);
    let mut words = line.split_whitespace();
    let ty = loop {
        match words.next().expect("a type") {
            "protected" => info.is_protected = true,
            "expandable" => info.is_expandable = true,
            "implied" => (info.is_expandable, info.is_implied) = (true, true),
            "input" => info.direction = Direction::Input,
            "output" => info.direction = Direction::Output,
            "flow" => info.kind = Kind::Flow,
            "stream" => is_stream = true,
            "parameter" => variability = Variability::Parameter,
            "constant" => variability = Variability::Constant,
            ty => break ty,
        }
    };
    let (base, sizes) = ty.split_once('[').unwrap_or((ty, "]"));
    let sizes = sizes.trim_end_matches(']');
    let dims: Vec<Dim> = sizes.split(',').filter(|s| !s.is_empty()).map(|s| Dim::Known(s.parse().unwrap())).collect();
    let name = words.next().expect("a name");
    for word in words {
        let (key, value) = word.split_once('=').expect("key=value");
        info.keys.insert(key.to_string(), value.to_string());
    }
    builder.declare(name, Type::array(base_type(base), dims), variability);
    if is_stream {
        let carrier = find(&builder.model, &info.keys["carrier"]).expect("the carrier is declared before");
        info.kind = Kind::Stream { flow: carrier };
    }
    info
}

fn find(model: &FlatModel, name: &str) -> Option<VarId> {
    model.variables.iter().find(|(_, v)| v.name == name).map(|(id, _)| id)
}

fn end(model: &FlatModel, text: &str) -> End {
    let (face, text) = match text.strip_prefix('^') {
        Some(rest) => (Face::Outside, rest),
        None => (Face::Inside, text),
    };
    let (var, element) = part(model, text);
    End { var, element, face }
}

fn stride(text: &str) -> Stride {
    let parts: Vec<i64> = text.split(':').map(|part| part.parse().unwrap()).collect();
    Stride { n: parts[0] as u64, a: parts[1], b: parts[2] }
}

fn iterator(name: &str) -> Local {
    Local { name: name.into(), ty: Type::INTEGER, sizes: Vec::new(), default: None, span: Span::nowhere() }
}

fn part(model: &FlatModel, text: &str) -> (VarId, Option<u64>) {
    if let Some(var) = find(model, text) {
        return (var, None);
    }
    let (name, element) = text.trim_end_matches(']').split_once('[').unwrap_or_else(|| panic!("unknown {text}"));
    (find(model, name).expect("declared"), Some(element.parse::<u64>().unwrap() - 1))
}

impl Case {
    pub fn new(text: &str) -> Case {
        let mut builder = build::Builder::new("Test");
        builder
            .model
            .enumerations
            .push(EnumType { name: "Colour".into(), literals: vec!["red".into(), "blue".into()] });
        let mut infos = Vec::new();
        let mut sets = ConnectionSets::new();
        for (i, line) in text.trim().lines().enumerate() {
            let span = line_span(i + 1);
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["connect", a, b] => {
                    let (a, b) = (end(&builder.model, a), end(&builder.model, b));
                    sets.connect(a, b, span, format!("line{}", i + 1).into());
                }
                ["each", a, b, each @ ..] => {
                    let (a, b) = (end(&builder.model, a), end(&builder.model, b));
                    let each = each.iter().map(|text| stride(text)).collect();
                    sets.connect_each(a, b, each, span, format!("line{}", i + 1).into());
                }
                ["fold", fewest] => {
                    let iterators = ["i", "j"].map(|name| builder.model.iterators.push(iterator(name))).to_vec();
                    sets.fold(Folding { fewest: fewest.parse().unwrap(), iterators });
                }
                ["zero", flow] => sets.add_flow(end(&builder.model, flow)),
                _ => {
                    infos.push(declare(&mut builder, line, span));
                    let var = VarId::from_usize(infos.len() - 1);
                    sets.add_flow(End::inside(var));
                }
            }
        }
        let mut model = builder.model;
        let result = sets.finish(&Table(&model, &infos));
        model.equations = result.equations.clone();
        assert_eq!(verify(&model), Ok(()), "the equations are not well typed");
        Case { model, infos, result }
    }

    /// The equations, one a line; there must be no messages.
    pub fn equations(&self) -> String {
        assert_eq!(self.messages(), "");
        self.equation_text()
    }

    pub fn equation_text(&self) -> String {
        let lines = self.model.equations.iter().map(|e| print_equation(&self.model, e).trim().to_string() + "\n");
        lines.collect()
    }

    /// Code, place, message, labels and hints.
    pub fn messages(&self) -> String {
        let mut text = String::new();
        for d in &self.result.diagnostics {
            let at = d.span.map_or("-".to_string(), |s| (s.start / 10).to_string());
            text += &format!("{} line {at}: {}\n", d.code.0, d.message);
            for label in &d.labels {
                text += &format!("  line {}: {}\n", label.span.start / 10, label.text);
            }
            for hint in &d.hints {
                text += &format!("  hint: {hint}\n");
            }
        }
        text
    }

    pub fn in_stream_expr(&self, name: &str) -> Expr {
        let (var, element) = part(&self.model, name);
        self.result.streams.in_stream(&self.table(), var, element, Span::nowhere())
    }

    pub fn in_stream(&self, name: &str) -> String {
        let (var, element) = part(&self.model, name);
        self.checked_text(var, element, self.in_stream_expr(name))
    }

    pub fn actual_stream(&self, name: &str) -> String {
        let (var, element) = part(&self.model, name);
        let expr = self.result.streams.actual_stream(&self.table(), var, element, Span::nowhere());
        self.checked_text(var, element, expr)
    }

    fn table(&self) -> Table<'_> {
        Table(&self.model, &self.infos)
    }

    /// The text of an expression that must have the type of the variable it stands for.
    fn checked_text(&self, var: VarId, element: Option<u64>, expr: Expr) -> String {
        let ty = &self.model.variables[var].ty;
        let wanted = if element.is_some() { Type::scalar(ty.base) } else { ty.clone() };
        assert!(expr.is_error() || expr.ty == wanted);
        let text = print_expr(&ModelNames::new(&self.model), &expr);
        let mut model = self.model.clone();
        model.equations.push(build::equality(expr.clone(), expr));
        assert_eq!(verify(&model), Ok(()), "the expression is not well typed");
        text
    }
}

/// Compares the equations of `text` with `expected`, line by line.
#[track_caller]
pub fn check(text: &str, expected: &str) {
    assert_eq!(Case::new(text).equations().trim(), expected.trim());
}

/// Compares the messages about `text` with `expected`.
#[track_caller]
pub fn check_messages(text: &str, expected: &str) {
    assert_eq!(Case::new(text).messages().trim_end(), expected.trim_matches('\n').trim_end());
}
