//! A flat model as deterministic Modelica text, one variable and one equation a line, for reading and comparing.
//!
//! ```text
//! class Ball "a bouncing ball"
//!   parameter Real e = 0.8;
//!   Real h(start = 1.0, fixed = true);
//! equation
//!   der(h) = v;
//! end Ball;
//! ```
//!
//! In: a [`FlatModel`]. Out: the class, then the enumerations, records and functions it uses (in order of their ids),
//! so that the text is complete. Names keep their dots; apart from that the text is Modelica.

use std::fmt::Write;

use saltus_base::IdVec;

use crate::print_expr::{Names, print_expr, print_real, print_string};
use crate::uses::{Uses, find_uses};
use crate::{
    Algorithm, BaseType, Causality, Dim, EnumId, Equation, EquationKind, Expr, External, ExternalArgument, FlatModel,
    Function, FunctionId, Local, LocalId, Prefix, Purity, RecordId, Statement, StatementKind, Type, VarId, Variability,
    Variable,
};

/// The whole model.
pub fn print(model: &FlatModel) -> String {
    let mut printer = Printer { names: ModelNames::new(model), model, out: String::new(), depth: 0 };
    printer.class();
    let uses = find_uses(model);
    printer.types(&uses);
    printer.functions(&uses);
    printer.out
}

/// One equation; several lines for `if` and `when`. No line end after the last.
pub fn print_equation(model: &FlatModel, equation: &Equation) -> String {
    let mut printer = Printer { names: ModelNames::new(model), model, out: String::new(), depth: 0 };
    printer.equation(equation);
    printer.out.truncate(printer.out.trim_end().len());
    printer.out
}

/// The statements of an algorithm section, without its heading and without a line end after the last.
pub fn print_algorithm(model: &FlatModel, algorithm: &Algorithm) -> String {
    let mut printer = Printer { names: ModelNames::new(model), model, out: String::new(), depth: 0 };
    printer.statements(&algorithm.statements);
    printer.out.truncate(printer.out.trim_end().len());
    printer.out
}

/// The names in a flat model; locals are the iterators, or those of one function.
#[derive(Clone, Copy)]
pub struct ModelNames<'a> {
    model: &'a FlatModel,
    locals: &'a IdVec<LocalId, Local>,
}

impl<'a> ModelNames<'a> {
    pub fn new(model: &'a FlatModel) -> Self {
        ModelNames { model, locals: &model.iterators }
    }

    pub fn in_function(model: &'a FlatModel, function: &'a Function) -> Self {
        ModelNames { model, locals: &function.locals }
    }
}

impl Names for ModelNames<'_> {
    fn variable(&self, id: VarId) -> &str {
        self.model.variables.get(id).map_or("<variable>", |v| &v.name)
    }
    fn local(&self, id: LocalId) -> &str {
        self.locals.get(id).map_or("<local>", |l| &l.name)
    }
    fn function(&self, id: FunctionId) -> &str {
        self.model.functions.get(id).map_or("<function>", |f| &f.name)
    }
    fn record(&self, id: RecordId) -> &str {
        self.model.records.get(id).map_or("<record>", |r| &r.name)
    }
    fn field(&self, record: RecordId, field: u32) -> &str {
        let fields = self.model.records.get(record).map(|r| &r.fields);
        fields.and_then(|f| f.get(field as usize)).map_or("<field>", |f| &f.name)
    }
    fn enumeration(&self, id: EnumId) -> &str {
        self.model.enumerations.get(id).map_or("<enumeration>", |e| &e.name)
    }
    fn literal(&self, id: EnumId, ordinal: u32) -> &str {
        let literals = self.model.enumerations.get(id).map(|e| &e.literals);
        let at = (ordinal as usize).checked_sub(1);
        literals.zip(at).and_then(|(l, i)| l.get(i)).map_or("<literal>", |l| l)
    }
}

/// The name of a type without its dimensions.
pub(crate) fn base_type_name(names: &dyn Names, base: BaseType) -> String {
    match base {
        BaseType::Real => "Real".into(),
        BaseType::Integer => "Integer".into(),
        BaseType::Boolean => "Boolean".into(),
        BaseType::String => "String".into(),
        BaseType::Clock => "Clock".into(),
        BaseType::Function => "function".into(),
        BaseType::Unit => "()".into(),
        BaseType::Error => "<error>".into(),
        BaseType::Enumeration(id) => names.enumeration(id).into(),
        BaseType::Record(id) => names.record(id).into(),
        BaseType::ExternalObject(constructor) => {
            let name = names.function(constructor);
            name.strip_suffix(".constructor").unwrap_or(name).into()
        }
    }
}

/// `Real[2, :]`; `sizes` are shown in place of `:` where they are known.
pub fn print_type(names: &dyn Names, ty: &Type, sizes: &[Option<Expr>]) -> String {
    let mut text = base_type_name(names, ty.base);
    for (i, dim) in ty.dims.iter().enumerate() {
        text.push_str(if i == 0 { "[" } else { ", " });
        match (dim, sizes.get(i).and_then(Option::as_ref)) {
            (Dim::Known(n), _) => text.push_str(&n.to_string()),
            (Dim::Unknown, Some(size)) => text.push_str(&print_expr(names, size)),
            (Dim::Unknown, None) => text.push(':'),
        }
    }
    if !ty.dims.is_empty() {
        text.push(']');
    }
    text
}

struct Printer<'a> {
    model: &'a FlatModel,
    names: ModelNames<'a>,
    out: String,
    depth: usize,
}

impl<'a> Printer<'a> {
    fn line(&mut self, text: &str) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn expr(&self, expr: &Expr) -> String {
        print_expr(&self.names, expr)
    }

    fn class(&mut self) {
        let model = self.model;
        self.line(&format!("class {}{}", model.name, description(&model.description)));
        self.depth = 1;
        for variable in model.variables.values() {
            let text = self.variable(variable);
            self.line(&text);
        }
        self.equation_section("initial equation", &model.initial_equations);
        self.equation_section("equation", &model.equations);
        for algorithm in &model.initial_algorithms {
            self.statement_section("initial algorithm", &algorithm.statements);
        }
        for algorithm in &model.algorithms {
            self.statement_section("algorithm", &algorithm.statements);
        }
        self.experiment();
        self.depth = 0;
        self.line(&format!("end {};", model.name));
    }

    fn variable(&self, v: &Variable) -> String {
        let mut text = String::new();
        let prefixes = [
            (v.is_protected, "protected "),
            (v.is_final, "final "),
            (v.prefix == Prefix::Flow, "flow "),
            (v.prefix == Prefix::Stream, "stream "),
            (v.variability == Variability::Constant, "constant "),
            (v.variability == Variability::Parameter, "parameter "),
            // Variables of other types are discrete anyway.
            (v.variability == Variability::Discrete && v.ty.base == BaseType::Real, "discrete "),
            (v.causality == Causality::Input, "input "),
            (v.causality == Causality::Output, "output "),
        ];
        for (_, prefix) in prefixes.iter().filter(|(applies, _)| *applies) {
            text.push_str(prefix);
        }
        let _ = write!(text, "{} {}", print_type(&self.names, &v.ty, &[]), v.name);
        for (i, (name, value)) in v.attributes.iter().enumerate() {
            let _ = write!(text, "{}{name} = {}", if i == 0 { "(" } else { ", " }, self.expr(value));
        }
        if v.attributes.iter().next().is_some() {
            text.push(')');
        }
        if let Some(binding) = &v.binding {
            let _ = write!(text, " = {}", self.expr(binding));
        }
        text.push_str(&description(&v.description));
        let annotations: Vec<&str> = [
            (v.is_structural, "Evaluate = true"),
            (v.hide_result, "HideResult = true"),
            (v.attributes.is_difference, "absoluteValue = false"),
        ]
        .into_iter()
        .filter_map(|(applies, text)| applies.then_some(text))
        .collect();
        if !annotations.is_empty() {
            let _ = write!(text, " annotation({})", annotations.join(", "));
        }
        text.push(';');
        text
    }

    fn experiment(&mut self) {
        let e = &self.model.experiment;
        let items: Vec<String> = [
            ("StartTime", e.start_time),
            ("StopTime", e.stop_time),
            ("Interval", e.interval),
            ("Tolerance", e.tolerance),
        ]
        .into_iter()
        .filter_map(|(name, value)| value.map(|v| format!("{name} = {}", print_real(v))))
        .collect();
        if !items.is_empty() {
            self.line(&format!("annotation(experiment({}));", items.join(", ")));
        }
    }

    fn section(&mut self, title: &str) {
        self.depth -= 1;
        self.line(title);
        self.depth += 1;
    }

    fn equation_section(&mut self, title: &str, equations: &[Equation]) {
        if !equations.is_empty() {
            self.section(title);
            self.equations(equations);
        }
    }

    fn statement_section(&mut self, title: &str, statements: &[Statement]) {
        self.section(title);
        self.statements(statements);
    }

    fn equations(&mut self, equations: &[Equation]) {
        for equation in equations {
            self.equation(equation);
        }
    }

    fn equation(&mut self, equation: &Equation) {
        match &equation.kind {
            EquationKind::Equality { left, right } => {
                let text = format!("{} = {};", self.expr(left), self.expr(right));
                self.line(&text);
            }
            EquationKind::If { branches, otherwise } => {
                self.branches("if", branches, |p, body| p.equations(body));
                self.otherwise(otherwise, |p, body| p.equations(body));
                self.line("end if;");
            }
            EquationKind::When { branches } => {
                self.branches("when", branches, |p, body| p.equations(body));
                self.line("end when;");
            }
            EquationKind::Assert { condition, message, level } => self.assert(condition, message, level.as_ref()),
            EquationKind::Terminate { message } => self.effect("terminate", &[message]),
            EquationKind::Reinit { state, value } => self.effect("reinit", &[state, value]),
            EquationKind::Call(call) => {
                let text = format!("{};", self.expr(call));
                self.line(&text);
            }
        }
    }

    /// `if c then … elseif d then …`, likewise for `when`.
    fn branches<T>(&mut self, keyword: &str, branches: &[(Expr, Vec<T>)], body: fn(&mut Self, &[T])) {
        for (i, (condition, items)) in branches.iter().enumerate() {
            let text = format!("{}{keyword} {} then", if i == 0 { "" } else { "else" }, self.expr(condition));
            self.line(&text);
            self.depth += 1;
            body(self, items);
            self.depth -= 1;
        }
    }

    fn otherwise<T>(&mut self, items: &[T], body: fn(&mut Self, &[T])) {
        if !items.is_empty() {
            self.line("else");
            self.depth += 1;
            body(self, items);
            self.depth -= 1;
        }
    }

    fn assert(&mut self, condition: &Expr, message: &Expr, level: Option<&Expr>) {
        match level {
            Some(level) => self.effect("assert", &[condition, message, level]),
            None => self.effect("assert", &[condition, message]),
        }
    }

    fn effect(&mut self, name: &str, arguments: &[&Expr]) {
        let arguments: Vec<String> = arguments.iter().map(|a| self.expr(a)).collect();
        self.line(&format!("{name}({});", arguments.join(", ")));
    }

    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                let text = format!("{} := {};", self.expr(target), self.expr(value));
                self.line(&text);
            }
            StatementKind::If { branches, otherwise } => {
                self.branches("if", branches, |p, body| p.statements(body));
                self.otherwise(otherwise, |p, body| p.statements(body));
                self.line("end if;");
            }
            StatementKind::When { branches } => {
                self.branches("when", branches, |p, body| p.statements(body));
                self.line("end when;");
            }
            StatementKind::For { local, range, body } => {
                let head = format!("for {} in {} loop", self.names.local(*local), self.expr(range));
                self.loop_body(&head, body, "end for;");
            }
            StatementKind::While { condition, body } => {
                let head = format!("while {} loop", self.expr(condition));
                self.loop_body(&head, body, "end while;");
            }
            StatementKind::Break => self.line("break;"),
            StatementKind::Return => self.line("return;"),
            StatementKind::Assert { condition, message, level } => self.assert(condition, message, level.as_ref()),
            StatementKind::Terminate { message } => self.effect("terminate", &[message]),
            StatementKind::Reinit { state, value } => self.effect("reinit", &[state, value]),
            StatementKind::Call(call) => {
                let text = format!("{};", self.expr(call));
                self.line(&text);
            }
        }
    }

    fn loop_body(&mut self, head: &str, body: &[Statement], end: &str) {
        self.line(head);
        self.depth += 1;
        self.statements(body);
        self.depth -= 1;
        self.line(end);
    }

    fn types(&mut self, uses: &Uses) {
        let model = self.model;
        for (_, enumeration) in model.enumerations.iter().filter(|(id, _)| uses.enumerations.contains(id)) {
            let text = format!("\ntype {} = enumeration({});\n", enumeration.name, enumeration.literals.join(", "));
            self.out.push_str(&text);
        }
        for (_, record) in model.records.iter().filter(|(id, _)| uses.records.contains(id)) {
            self.out.push('\n');
            self.line(&format!("record {}", record.name));
            for field in &record.fields {
                let text = format!("  {} {};", print_type(&self.names, &field.ty, &[]), field.name);
                self.line(&text);
            }
            self.line(&format!("end {};", record.name));
        }
    }

    fn functions(&mut self, uses: &Uses) {
        let model = self.model;
        for (_, function) in model.functions.iter().filter(|(id, _)| uses.functions.contains(id)) {
            self.names = ModelNames::in_function(model, function);
            self.function(function);
        }
        self.names = ModelNames::new(model);
    }

    fn function(&mut self, function: &Function) {
        self.out.push('\n');
        let purity = if function.purity == Purity::Impure { "impure " } else { "" };
        self.line(&format!("{purity}function {}", function.name));
        self.depth = 1;
        for (id, local) in function.locals.iter() {
            let kind = if function.inputs.contains(&id) {
                "input"
            } else if function.outputs.contains(&id) {
                "output"
            } else {
                "protected"
            };
            let mut text = format!("{kind} {} {}", print_type(&self.names, &local.ty, &local.sizes), local.name);
            if let Some(default) = &local.default {
                let _ = write!(text, " = {}", self.expr(default));
            }
            text.push(';');
            self.line(&text);
        }
        if let Some(external) = &function.external {
            self.external(external);
        } else if !function.is_record_constructor {
            self.statement_section("algorithm", &function.body);
        }
        self.function_annotation(function);
        self.depth = 0;
        self.line(&format!("end {};", function.name));
    }

    fn external(&mut self, external: &External) {
        let arguments: Vec<String> = external
            .arguments
            .iter()
            .map(|argument| match argument {
                ExternalArgument::Input(e) => self.expr(e),
                ExternalArgument::Output(local) => self.names.local(*local).to_owned(),
            })
            .collect();
        let result = external.result.map_or(String::new(), |r| format!("{} = ", self.names.local(r)));
        let text = format!(
            "external {} {result}{}({});",
            print_string(&external.language),
            external.name,
            arguments.join(", ")
        );
        self.section(&text);
    }

    fn function_annotation(&mut self, function: &Function) {
        let mut items: Vec<String> = Vec::new();
        for derivative in &function.derivatives {
            let order = if derivative.order == 1 { String::new() } else { format!("(order = {})", derivative.order) };
            items.push(format!("derivative{order} = {}", self.names.function(derivative.function)));
        }
        for inverse in &function.inverses {
            let arguments: Vec<&str> = inverse.arguments.iter().map(|a| self.names.local(*a)).collect();
            let call = format!("{}({})", self.names.function(inverse.function), arguments.join(", "));
            items.push(format!("inverse({} = {call})", self.names.local(inverse.input)));
        }
        let flags = [
            (function.inline, "Inline = true"),
            (function.late_inline, "LateInline = true"),
            (function.inline_after_index_reduction, "InlineAfterIndexReduction = true"),
            (function.generate_events, "GenerateEvents = true"),
        ];
        items.extend(flags.into_iter().filter(|(set, _)| *set).map(|(_, text)| text.to_owned()));
        items.extend(function.smooth_order.map(|order| format!("smoothOrder = {order}")));
        if !items.is_empty() {
            self.line(&format!("annotation({});", items.join(", ")));
        }
    }
}

fn description(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(" {}", print_string(text)) }
}
