//! Flat expressions as Modelica text, with as few parentheses as the grammar allows.
//!
//! In: an [`Expr`] and the [`Names`] of what it mentions. Out: text such as `-e * pre(v)`. The text parses back to the
//! same tree, except that Integer-to-Real conversions, which the language makes implicit, are not shown and that
//! references keep their dotted names. (Specification: operators in section 3.2, grammar in appendix A.)

use std::fmt::Write;

use crate::{
    BaseType, BinaryOp, Builtin, EnumId, Expr, ExprKind, FunctionId, Iterator, LocalId, RecordId, ReductionOp,
    Subscript, Type, UnaryOp, VarId,
};

/// What the things an expression mentions are called. The front end has its own before a [`crate::FlatModel`] exists.
/// An unknown id gets a name that shows the mistake; it never panics.
pub trait Names {
    fn variable(&self, id: VarId) -> &str;
    fn local(&self, id: LocalId) -> &str;
    fn function(&self, id: FunctionId) -> &str;
    fn record(&self, id: RecordId) -> &str;
    fn field(&self, record: RecordId, field: u32) -> &str;
    fn enumeration(&self, id: EnumId) -> &str;
    /// The literal without the name of its type; the ordinal counts from 1.
    fn literal(&self, id: EnumId, ordinal: u32) -> &str;
}

/// `expr` as Modelica text.
pub fn print_expr(names: &dyn Names, expr: &Expr) -> String {
    let mut printer = ExprPrinter { names, out: String::new() };
    printer.expr(expr, Level::If);
    printer.out
}

/// A Real literal: the shortest text that reads back as the same number and cannot be taken for an Integer.
pub fn print_real(value: f64) -> String {
    // The debug form of f64 is exactly that: `1.0`, `1e-6`, `-0.0`, `inf`.
    format!("{value:?}")
}

/// A String literal with its quotes and escapes.
pub fn print_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

/// How tightly a construct binds; an operand below the level its place asks for gets parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    If,
    Range,
    Or,
    And,
    Not,
    Relation,
    /// Also a leading sign: `-a * b` is `-(a * b)`.
    Sum,
    Product,
    Power,
    Primary,
}

struct ExprPrinter<'a> {
    names: &'a dyn Names,
    out: String,
}

impl ExprPrinter<'_> {
    fn expr(&mut self, expr: &Expr, at_least: Level) {
        let parenthesised = level(expr) < at_least;
        if parenthesised {
            self.out.push('(');
        }
        self.bare(expr);
        if parenthesised {
            self.out.push(')');
        }
    }

    fn bare(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Real(value) => self.out.push_str(&print_real(*value)),
            ExprKind::Integer(value) => self.write(format_args!("{value}")),
            ExprKind::Boolean(value) => self.write(format_args!("{value}")),
            ExprKind::String(text) => self.out.push_str(&print_string(text)),
            ExprKind::EnumLiteral(id, ordinal) => {
                let (ty, literal) = (self.names.enumeration(*id), self.names.literal(*id, *ordinal));
                self.write(format_args!("{ty}.{literal}"));
            }
            ExprKind::Var(id) => self.out.push_str(self.names.variable(*id)),
            ExprKind::Local(id) => self.out.push_str(self.names.local(*id)),
            ExprKind::Time => self.out.push_str("time"),
            ExprKind::Index { base, subscripts } => {
                self.reference(base);
                self.subscripts(subscripts);
            }
            ExprKind::Field { base, field } => {
                self.reference(base);
                let name = match base.ty.base {
                    BaseType::Record(record) => self.names.field(record, *field),
                    _ => "<field>",
                };
                self.write(format_args!(".{name}"));
            }
            ExprKind::Record(items) => {
                let name = match expr.ty.base {
                    BaseType::Record(record) => self.names.record(record),
                    _ => "<record>",
                };
                self.call(name, items);
            }
            ExprKind::Array(items) if items.is_empty() => self.empty_array(&expr.ty),
            ExprKind::Array(items) => {
                self.out.push('{');
                self.list(items);
                self.out.push('}');
            }
            ExprKind::Range { start, step, stop } => {
                self.expr(start, Level::Or);
                if let Some(step) = step {
                    self.out.push(':');
                    self.expr(step, Level::Or);
                }
                self.out.push(':');
                self.expr(stop, Level::Or);
            }
            ExprKind::Unary(UnaryOp::Negate, operand) => {
                self.out.push('-');
                self.expr(operand, Level::Product);
            }
            ExprKind::Unary(UnaryOp::Not, operand) => {
                self.out.push_str("not ");
                self.expr(operand, Level::Relation);
            }
            ExprKind::Binary(..) => self.binary(expr),
            ExprKind::If { .. } => self.conditional(expr),
            ExprKind::Call { function, arguments } => self.call(self.names.function(*function), arguments),
            ExprKind::CallLocal { function, arguments } => self.call(self.names.local(*function), arguments),
            ExprKind::Builtin { function: Builtin::EnumFromInteger, arguments } => {
                let name = match expr.ty.base {
                    BaseType::Enumeration(id) => self.names.enumeration(id),
                    _ => "<enumeration>",
                };
                self.call(name, arguments);
            }
            ExprKind::Builtin { function, arguments } => self.call(function.name(), arguments),
            ExprKind::Reduction { op, body, iterators } => self.reduction(*op, body, iterators),
            ExprKind::Tuple(items) => {
                self.out.push('(');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        self.out.push_str(", ");
                    }
                    if let Some(item) = item {
                        self.expr(item, Level::If);
                    }
                }
                self.out.push(')');
            }
            ExprKind::Cast(operand) => match (operand.ty.base, expr.ty.base) {
                (BaseType::Enumeration(_), _) => self.call("Integer", std::slice::from_ref(operand)),
                _ => self.bare(operand),
            },
            ExprKind::FunctionRef { function, bound } => self.function_ref(*function, bound),
            ExprKind::Error => self.out.push_str("<error>"),
        }
    }

    fn write(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = self.out.write_fmt(text);
    }

    fn list(&mut self, items: &[Expr]) {
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.expr(item, Level::If);
        }
    }

    fn call(&mut self, name: &str, arguments: &[Expr]) {
        self.out.push_str(name);
        self.out.push('(');
        self.list(arguments);
        self.out.push(')');
    }

    /// The base of a subscript or field: anything but a reference needs parentheses to be followed by `[` or `.`.
    fn reference(&mut self, base: &Expr) {
        let is_reference = matches!(
            base.kind,
            ExprKind::Var(_) | ExprKind::Local(_) | ExprKind::Index { .. } | ExprKind::Field { .. }
        );
        if is_reference {
            self.bare(base);
        } else {
            self.out.push('(');
            self.bare(base);
            self.out.push(')');
        }
    }

    fn subscripts(&mut self, subscripts: &[Subscript]) {
        self.out.push('[');
        for (i, subscript) in subscripts.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            match subscript {
                Subscript::Index(e) | Subscript::Slice(e) => self.expr(e, Level::If),
                Subscript::All => self.out.push(':'),
            }
        }
        self.out.push(']');
    }

    /// `{}` would not tell its type: `fill(0.0, 0, 3)` does.
    fn empty_array(&mut self, ty: &Type) {
        let element = match ty.base {
            BaseType::Integer => "0",
            BaseType::Boolean => "false",
            BaseType::String => "\"\"",
            BaseType::Real => "0.0",
            _ => {
                self.out.push_str("{}");
                return;
            }
        };
        self.write(format_args!("fill({element}"));
        for dim in &ty.dims {
            self.write(format_args!(", {}", dim.known().unwrap_or(0)));
        }
        self.out.push(')');
    }

    /// Long sums are nested to the left: the left spine is followed in a loop, not by recursion.
    fn binary(&mut self, expr: &Expr) {
        let mut spine = Vec::new();
        let mut first = expr;
        let mut place = Level::If;
        while let ExprKind::Binary(op, left, right) = &first.kind
            && binary_level(*op) >= place
        {
            spine.push((*op, left.as_ref(), right.as_ref()));
            place = operand_levels(*op).0;
            first = left.as_ref();
        }
        self.expr(first, place);
        for (op, left, right) in spine.into_iter().rev() {
            let sign = operator(op, left.ty.is_scalar(), right.ty.is_scalar());
            if matches!(op, BinaryOp::Pow | BinaryOp::MatPow) {
                self.out.push_str(sign);
            } else {
                self.write(format_args!(" {sign} "));
            }
            self.expr(right, operand_levels(op).1);
        }
    }

    /// `if a then x elseif b then y else z`
    fn conditional(&mut self, expr: &Expr) {
        let mut current = expr;
        let mut keyword = "if";
        while let ExprKind::If { condition, then, otherwise } = &current.kind {
            self.out.push_str(keyword);
            self.out.push(' ');
            self.expr(condition, Level::If);
            self.out.push_str(" then ");
            self.expr(then, Level::If);
            self.out.push(' ');
            keyword = "elseif";
            current = otherwise;
        }
        self.out.push_str("else ");
        self.expr(current, Level::If);
    }

    /// In the text the last iterator is the outermost loop; here the first one is.
    fn reduction(&mut self, op: ReductionOp, body: &Expr, iterators: &[Iterator]) {
        let (open, close) = match op {
            ReductionOp::Sum => ("sum(", ')'),
            ReductionOp::Product => ("product(", ')'),
            ReductionOp::Min => ("min(", ')'),
            ReductionOp::Max => ("max(", ')'),
            ReductionOp::Array => ("{", '}'),
        };
        self.out.push_str(open);
        self.expr(body, Level::If);
        self.out.push_str(" for ");
        for (i, iterator) in iterators.iter().rev().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            let name = self.names.local(iterator.local);
            self.write(format_args!("{name} in "));
            self.expr(&iterator.range, Level::If);
        }
        self.out.push(close);
    }

    /// Bound inputs are shown by position: the names of a function's inputs are not among [`Names`].
    fn function_ref(&mut self, function: FunctionId, bound: &[(u32, Expr)]) {
        let name = self.names.function(function);
        self.write(format_args!("function {name}("));
        for (i, (position, value)) in bound.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.write(format_args!("#{} = ", position + 1));
            self.expr(value, Level::If);
        }
        self.out.push(')');
    }
}

fn level(expr: &Expr) -> Level {
    match &expr.kind {
        ExprKind::Real(value) if value.is_sign_negative() => Level::Sum,
        ExprKind::Integer(value) if *value < 0 => Level::Sum,
        ExprKind::If { .. } => Level::If,
        ExprKind::Range { .. } => Level::Range,
        ExprKind::Unary(UnaryOp::Negate, _) => Level::Sum,
        ExprKind::Unary(UnaryOp::Not, _) => Level::Not,
        ExprKind::Binary(op, ..) => binary_level(*op),
        ExprKind::Cast(operand) if !matches!(operand.ty.base, BaseType::Enumeration(_)) => level(operand),
        _ => Level::Primary,
    }
}

fn binary_level(op: BinaryOp) -> Level {
    match op {
        BinaryOp::Or => Level::Or,
        BinaryOp::And => Level::And,
        BinaryOp::Add | BinaryOp::Sub => Level::Sum,
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::MatMul => Level::Product,
        BinaryOp::Pow | BinaryOp::MatPow => Level::Power,
        _ => Level::Relation,
    }
}

/// What the left and the right operand must be at least. Relations and powers do not associate.
fn operand_levels(op: BinaryOp) -> (Level, Level) {
    match binary_level(op) {
        Level::Or => (Level::Or, Level::And),
        Level::And => (Level::And, Level::Not),
        Level::Relation => (Level::Sum, Level::Sum),
        Level::Sum => (Level::Sum, Level::Product),
        Level::Product => (Level::Product, Level::Power),
        _ => (Level::Primary, Level::Primary),
    }
}

/// Elementwise operations need a dot where the plain operator means something else or is not allowed.
fn operator(op: BinaryOp, left_is_scalar: bool, right_is_scalar: bool) -> &'static str {
    let mixed = left_is_scalar != right_is_scalar;
    match op {
        BinaryOp::Add if mixed => ".+",
        BinaryOp::Add => "+",
        BinaryOp::Sub if mixed => ".-",
        BinaryOp::Sub => "-",
        BinaryOp::Mul if !left_is_scalar && !right_is_scalar => ".*",
        BinaryOp::Mul | BinaryOp::MatMul => "*",
        BinaryOp::Div if !right_is_scalar => "./",
        BinaryOp::Div => "/",
        BinaryOp::Pow if !left_is_scalar || !right_is_scalar => ".^",
        BinaryOp::Pow | BinaryOp::MatPow => "^",
        BinaryOp::Less => "<",
        BinaryOp::LessEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterEqual => ">=",
        BinaryOp::Equal => "==",
        BinaryOp::NotEqual => "<>",
        BinaryOp::And => "and",
        BinaryOp::Or => "or",
    }
}
