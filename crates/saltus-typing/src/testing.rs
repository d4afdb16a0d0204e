//! A small world for the tests: typed variables under fixed names, and expressions written as Modelica text.
//!
//! `Test::model().typed("v + w")` parses, types bottom-up and gives the flat text and type, or the messages. Every result is
//! checked by the flat model's verifier, so that a wrong type of any node fails the test.

use std::sync::Arc;

use saltus_base::{Diagnostic, FileId, IdVec, Index, Interner, Severity, Span};
use saltus_flat::build::Builder;
use saltus_flat::{
    BaseType, Builtin, Dim, EnumId, EnumType, Expr, ExprKind, FlatModel, Function, Iterator, Local, LocalId,
    ModelNames, Purity, RecordField, RecordId, RecordType, ReductionOp, Type, VarId, Variability, print_expr,
};
use saltus_syntax::ast;

use crate::*;

/// What is declared, with its type as it would be written.
const VARIABLES: [(&str, &str, Variability); 27] = [
    ("x", "Real", Variability::Continuous),
    ("y", "Real", Variability::Continuous),
    ("v", "Real[3]", Variability::Continuous),
    ("w", "Real[2]", Variability::Continuous),
    ("one", "Real[1]", Variability::Continuous),
    ("A", "Real[3,3]", Variability::Continuous),
    ("B", "Real[2,3]", Variability::Continuous),
    ("T", "Real[2,2,2]", Variability::Continuous),
    ("row", "Real[1,3]", Variability::Continuous),
    ("deep", "Real[2,3,1]", Variability::Continuous),
    ("none", "Real[0]", Variability::Continuous),
    ("i", "Integer", Variability::Discrete),
    ("k", "Integer[3]", Variability::Discrete),
    ("N", "Integer[2,2]", Variability::Discrete),
    ("b", "Boolean", Variability::Discrete),
    ("bb", "Boolean[2]", Variability::Discrete),
    ("s", "String", Variability::Discrete),
    ("d", "Real", Variability::Discrete),
    ("p", "Real", Variability::Parameter),
    ("n", "Integer", Variability::Parameter),
    ("free", "Integer", Variability::Parameter),
    ("q", "Boolean", Variability::Parameter),
    ("e", "E", Variability::Discrete),
    ("f", "F", Variability::Discrete),
    ("g", "G", Variability::Discrete),
    ("c", "Clock", Variability::Discrete),
    ("level", "AssertionLevel", Variability::Parameter),
];

/// Variables of the enclosing function; the same names hide those above.
const LOCALS: [(&str, &str); 8] = [
    ("u", "Real[:]"),
    ("z", "Real[:]"),
    ("M", "Real[:,:]"),
    ("x", "Real"),
    ("m", "Integer"),
    ("b", "Boolean"),
    ("r", "R"),
    ("rs", "R[:]"),
];

pub(crate) struct Test {
    pub model: FlatModel,
    function: Option<Function>,
    bound: Vec<(String, LocalId)>,
    found: Vec<Diagnostic>,
}

impl Test {
    /// Expressions of an equation section.
    pub fn model() -> Test {
        let mut builder = Builder::new("Test");
        let enumerations = [("E", "a b c"), ("F", "one two"), ("G", "a b c"), ("AssertionLevel", "warning error")];
        for (name, literals) in enumerations {
            let literals = literals.split(' ').map(String::from).collect();
            builder.model.enumerations.push(EnumType { name: name.into(), literals });
        }
        let field = |name: &str, ty: Type| RecordField { name: name.into(), ty };
        let records = [
            ("R", vec![field("x", Type::REAL), field("n", Type::INTEGER)]),
            ("S", vec![field("n", Type::REAL), field("x", Type::REAL)]),
            ("Q", vec![field("x", Type::REAL), field("t", Type::STRING)]),
        ];
        for (name, fields) in records {
            builder.model.records.push(RecordType { name: name.into(), fields });
        }
        for (name, ty, variability) in VARIABLES {
            builder.declare(name, parse_type(ty), variability);
        }
        Test { model: builder.model, function: None, bound: Vec::new(), found: Vec::new() }
    }

    /// Expressions of a function.
    pub fn function() -> Test {
        let mut test = Test::model();
        let mut locals = IdVec::new();
        for (name, ty) in LOCALS {
            locals.push(local(name, parse_type(ty)));
        }
        test.function = Some(Function {
            name: "f".into(),
            inputs: locals.ids().collect(),
            locals,
            outputs: Vec::new(),
            body: Vec::new(),
            external: None,
            purity: Purity::Pure,
            is_record_constructor: false,
            derivatives: Vec::new(),
            inverses: Vec::new(),
            inline: false,
            late_inline: false,
            inline_after_index_reduction: false,
            smooth_order: None,
            generate_events: false,
            span: Span::nowhere(),
        });
        test
    }

    /// The typed expression; messages are kept.
    pub fn expr(&mut self, text: &str) -> Expr {
        let mut names = Interner::new();
        let (tree, wrong) = saltus_syntax::parse_expression(FileId::from_usize(0), text, &mut names);
        assert!(wrong.is_empty(), "{text}: {wrong:?}");
        self.build(&tree, &names)
    }

    /// `flat text : type`, or the messages as `code: message` with hints behind `|`.
    pub fn typed(&mut self, text: &str) -> String {
        let expr = self.expr(text);
        self.shown(&expr)
    }

    pub fn shown(&mut self, expr: &Expr) -> String {
        if !self.found.is_empty() {
            return self.messages();
        }
        assert!(!expr.is_error(), "an error without a message");
        self.verify(expr);
        format!("{} : {}", self.text(expr), type_name(self, &expr.ty))
    }

    pub fn messages(&mut self) -> String {
        let one = |d: &Diagnostic| {
            let hints: String = d.hints.iter().map(|h| format!(" | {h}")).collect();
            format!("{}: {}{hints}", d.code.0, d.message)
        };
        let text: Vec<String> = self.found.iter().map(one).collect();
        self.found.clear();
        text.join("\n")
    }

    pub fn has_errors(&self) -> bool {
        self.found.iter().any(|d| d.severity == Severity::Error)
    }

    pub fn spans(&self) -> Vec<(u32, u32)> {
        self.found.iter().filter_map(|d| d.span.map(|s| (s.start, s.end))).collect()
    }

    pub fn text(&self, expr: &Expr) -> String {
        match &self.function {
            Some(function) => print_expr(&ModelNames::in_function(&self.model, function), expr),
            None => print_expr(&ModelNames::new(&self.model), expr),
        }
    }

    /// Puts the expression into a model of its own and runs the verifier.
    fn verify(&self, expr: &Expr) {
        let mut model = self.model.clone();
        match &self.function {
            Some(function) => {
                let mut function = function.clone();
                let mut holder = local("holder", expr.ty.clone());
                holder.default = Some(expr.clone());
                function.locals.push(holder);
                model.functions.push(function);
            }
            None if expr.ty.base == BaseType::Unit => {}
            None => model.equations.push(saltus_flat::build::equality(expr.clone(), expr.clone())),
        }
        let mut found = saltus_flat::verify(&model).err().unwrap_or_default();
        // FIXME: the verifier wants one base type on both sides of a matrix power, whose exponent is Integer, and takes the
        // clocked `sample(u, clock)` for the Boolean `sample(start, interval)`.
        found.retain(|f| !(f.contains('^') && f.contains("operands of different types") || f.contains("`sample(")));
        assert!(found.is_empty(), "{}: {found:?}", self.text(expr));
    }

    fn name(&mut self, name: &str, span: Span) -> Expr {
        if let Some((_, id)) = self.bound.iter().rev().find(|(n, _)| n == name) {
            let id = *id;
            let ty = self.model.iterators[id].ty.clone();
            return Expr::new(ExprKind::Local(id), ty, span);
        }
        if let Some(function) = &self.function
            && let Some((id, local)) = function.locals.iter().find(|(_, l)| l.name == name)
        {
            return Expr::new(ExprKind::Local(id), local.ty.clone(), span);
        }
        match name {
            "time" => return Expr::new(ExprKind::Time, Type::REAL, span),
            // A record component is its fields.
            "r" => {
                let fields = vec![self.name("x", span), self.name("i", span)];
                return Expr::new(ExprKind::Record(fields), parse_type("R"), span);
            }
            "nothing" => return Expr::builtin(Builtin::Terminate, vec![], Type::UNIT, span),
            "broken" => return Expr::error(span),
            _ => {}
        }
        match self.model.variables.iter().find(|(_, v)| v.name == name) {
            Some((id, variable)) => Expr::new(ExprKind::Var(id), variable.ty.clone(), span),
            None => panic!("no variable {name} in the test's world"),
        }
    }

    fn build(&mut self, tree: &ast::Expr, names: &Interner) -> Expr {
        let span = tree.span;
        match &tree.kind {
            ast::ExprKind::Integer(value) => Expr::integer(*value, span),
            ast::ExprKind::Real(value) => Expr::real(*value, span),
            ast::ExprKind::String(value) => Expr::string(value, span),
            ast::ExprKind::Boolean(value) => Expr::boolean(*value, span),
            ast::ExprKind::Ref(reference) => self.reference(reference, names),
            ast::ExprKind::Call(call) => self.call(call, span, names),
            ast::ExprKind::Unary(op, operand) => {
                let operand = self.build(operand, names);
                unary(self, *op, operand, span)
            }
            ast::ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.build(left, names), self.build(right, names));
                binary(self, *op, left, right, span)
            }
            ast::ExprKind::If(branches, otherwise) => {
                let [(condition, then)] = &branches[..] else { panic!("one branch only") };
                let (condition, then) = (self.build(condition, names), self.build(then, names));
                let otherwise = self.build(otherwise, names);
                if_expression(self, condition, then, otherwise, span)
            }
            ast::ExprKind::Range { start, step, stop } => {
                let start = self.build(start, names);
                let step = step.as_ref().map(|s| self.build(s, names));
                let stop = self.build(stop, names);
                range(self, start, step, stop, span)
            }
            ast::ExprKind::Array(items) => {
                let items = items.iter().map(|i| self.build(i, names)).collect();
                array(self, items, span)
            }
            ast::ExprKind::Comprehension(body, indices) => {
                self.comprehension(ReductionOp::Array, body, indices, span, names)
            }
            ast::ExprKind::Matrix(rows) => {
                let rows = rows.iter().map(|r| r.iter().map(|e| self.build(e, names)).collect()).collect();
                matrix(self, rows, span)
            }
            ast::ExprKind::Parenthesised(items) => match &items[..] {
                [Some(e)] => self.build(e, names),
                _ => {
                    let items = items.iter().map(|e| e.as_ref().map(|e| self.build(e, names))).collect();
                    Expr::new(ExprKind::Tuple(items), Type::UNIT, span)
                }
            },
            ast::ExprKind::Access { base, subscripts, parts } => {
                let base = self.build(base, names);
                let mut value = self.indexed(base, subscripts, span, names);
                for part in parts {
                    value = field(self, value, names.text(part.name.name), span);
                    value = self.indexed(value, &part.subscripts, span, names);
                }
                value
            }
            other => panic!("not in tests: {other:?}"),
        }
    }

    fn reference(&mut self, reference: &ast::ComponentRef, names: &Interner) -> Expr {
        let texts: Vec<&str> = reference.parts.iter().map(|p| names.text(p.name.name)).collect();
        if let [ty, literal] = texts[..]
            && let Some((id, ty)) = self.model.enumerations.iter().find(|(_, t)| t.name == ty)
        {
            let ordinal = ty.literals.iter().position(|l| l == literal).map_or(0, |p| p as u32 + 1);
            return Expr::new(
                ExprKind::EnumLiteral(id, ordinal),
                Type::scalar(BaseType::Enumeration(id)),
                reference.span,
            );
        }
        let mut value = self.name(texts[0], reference.parts[0].name.span);
        value = self.indexed(value, &reference.parts[0].subscripts, reference.span, names);
        for part in &reference.parts[1..] {
            value = field(self, value, names.text(part.name.name), part.name.span);
            value = self.indexed(value, &part.subscripts, reference.span, names);
        }
        value
    }

    fn indexed(&mut self, base: Expr, subscripts: &[ast::Subscript], span: Span, names: &Interner) -> Expr {
        let subscripts = subscripts
            .iter()
            .map(|s| match s {
                ast::Subscript::Colon(span) => SubscriptArgument::All(*span),
                ast::Subscript::Expr(e) => SubscriptArgument::Expr(self.build(e, names)),
            })
            .collect();
        index(self, base, subscripts, span)
    }

    fn call(&mut self, call: &ast::Call, span: Span, names: &Interner) -> Expr {
        let name: Vec<&str> = call.name.parts.iter().map(|p| names.text(p.name.name)).collect();
        let name = name.join(".");
        if !call.iterators.is_empty() {
            let op = match name.as_str() {
                "sum" => ReductionOp::Sum,
                "product" => ReductionOp::Product,
                "min" => ReductionOp::Min,
                "max" => ReductionOp::Max,
                _ => ReductionOp::Array,
            };
            return self.comprehension(op, &call.arguments[0], &call.iterators, span, names);
        }
        let arguments: Vec<Expr> = call.arguments.iter().map(|a| self.build(a, names)).collect();
        let enumeration = self.model.enumerations.iter().find(|(_, t)| t.name == name).map(|(id, _)| id);
        if let Some(id) = enumeration {
            return enumeration_from_integer(self, id, arguments[0].clone(), span);
        }
        if let Some((id, _)) = self.model.records.iter().find(|(_, t)| t.name == name) {
            return Expr::new(ExprKind::Record(arguments), Type::scalar(BaseType::Record(id)), span);
        }
        let named: Vec<(String, Expr)> =
            call.named.iter().map(|n| (names.text(n.name.name).to_string(), self.build(&n.value, names))).collect();
        let named = named.iter().map(|(n, e)| (n.as_str(), e.clone())).collect();
        let function = Builtin::from_name(&name).unwrap_or_else(|| panic!("no built-in function {name}"));
        builtin(self, function, arguments, named, span)
    }

    fn comprehension(
        &mut self,
        op: ReductionOp,
        body: &ast::Expr,
        indices: &[ast::ForIndex],
        span: Span,
        names: &Interner,
    ) -> Expr {
        let mut iterators = Vec::new();
        for index in indices.iter().rev() {
            let range = self.build(index.range.as_ref().expect("a range"), names);
            let local = match &mut self.function {
                Some(function) => function.locals.push(local(names.text(index.name.name), range.ty.element(1))),
                None => {
                    let id = self.model.iterators.push(local(names.text(index.name.name), range.ty.element(1)));
                    self.bound.push((names.text(index.name.name).to_string(), id));
                    id
                }
            };
            iterators.push(Iterator { local, range });
        }
        let body = self.build(body, names);
        self.bound.truncate(self.bound.len().saturating_sub(indices.len()));
        reduction(self, op, body, iterators, span)
    }
}

fn local(name: &str, ty: Type) -> Local {
    let sizes = vec![None; ty.rank()];
    Local { name: name.into(), ty, sizes, default: None, span: Span::nowhere() }
}

/// `Real[3, :]`
pub(crate) fn parse_type(text: &str) -> Type {
    let (base, dims) = text.split_once('[').unwrap_or((text, ""));
    let base = match base {
        "Real" => BaseType::Real,
        "Integer" => BaseType::Integer,
        "Boolean" => BaseType::Boolean,
        "String" => BaseType::String,
        "Clock" => BaseType::Clock,
        "E" => BaseType::Enumeration(EnumId::from_usize(0)),
        "F" => BaseType::Enumeration(EnumId::from_usize(1)),
        "G" => BaseType::Enumeration(EnumId::from_usize(2)),
        "AssertionLevel" => BaseType::Enumeration(EnumId::from_usize(3)),
        "R" => BaseType::Record(RecordId::from_usize(0)),
        "S" => BaseType::Record(RecordId::from_usize(1)),
        "Q" => BaseType::Record(RecordId::from_usize(2)),
        other => panic!("no type {other}"),
    };
    let dims = dims.trim_end_matches(']').split(',').map(str::trim).filter(|d| !d.is_empty());
    Type::array(base, dims.map(|d| d.parse().map_or(Dim::Unknown, Dim::Known)).collect::<Vec<_>>())
}

impl Context for Test {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }
    fn enum_type(&self, id: EnumId) -> Arc<EnumType> {
        Arc::new(self.model.enumerations[id].clone())
    }
    fn record_type(&self, id: RecordId) -> Arc<RecordType> {
        Arc::new(self.model.records[id].clone())
    }
    /// `n` is 3; `free` has no value.
    fn evaluate_integer(&mut self, expr: &Expr) -> Option<i64> {
        match &expr.kind {
            ExprKind::Integer(value) => Some(*value),
            ExprKind::Var(id) if self.model.variables[*id].name == "n" => Some(3),
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.evaluate_integer(left)?, self.evaluate_integer(right)?);
                match op {
                    saltus_flat::BinaryOp::Add => Some(left + right),
                    saltus_flat::BinaryOp::Sub => Some(left - right),
                    _ => None,
                }
            }
            _ => None,
        }
    }
    /// `q` is true.
    fn evaluate_boolean(&mut self, expr: &Expr) -> Option<bool> {
        match &expr.kind {
            ExprKind::Boolean(value) => Some(*value),
            ExprKind::Var(id) if self.model.variables[*id].name == "q" => Some(true),
            _ => None,
        }
    }
    fn variability(&self, var: VarId) -> Variability {
        self.model.variables[var].variability
    }
    fn local_variability(&self, _: LocalId) -> Variability {
        if self.function.is_some() { Variability::Discrete } else { Variability::Parameter }
    }
    fn in_function(&self) -> bool {
        self.function.is_some()
    }
    fn fresh_iterator(&mut self, _: Span) -> Option<LocalId> {
        Some(match &mut self.function {
            Some(function) => function.locals.push(local("$i", Type::INTEGER)),
            None => self.model.iterators.push(local("$i", Type::INTEGER)),
        })
    }
    fn describe(&self, expr: &Expr) -> String {
        self.text(expr)
    }
}

/// In a model: each text gives what stands beside it.
pub(crate) fn check_model(cases: &[(&str, &str)]) {
    check(Test::model, cases);
}

pub(crate) fn check_function(cases: &[(&str, &str)]) {
    check(Test::function, cases);
}

fn check(world: fn() -> Test, cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .map(|(text, expected)| (text, expected, world().typed(text)))
        .filter(|(_, expected, found)| found != *expected)
        .map(|(text, expected, found)| format!("`{text}`\n  expected {expected}\n  found    {found}"))
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
