//! Expressions of the test language, typed just well enough for the rules.

use saltus_base::{Index, Span};
use saltus_flat::{
    BaseType, BinaryOp, Builtin, Dim, Expr, ExprKind, FunctionId, LocalId, Subscript, Type, UnaryOp, VarId,
};

use super::lexer::Token;
use super::model::Parser;

const RELATIONS: [(&str, BinaryOp); 6] = [
    ("<", BinaryOp::Less),
    ("<=", BinaryOp::LessEqual),
    (">", BinaryOp::Greater),
    (">=", BinaryOp::GreaterEqual),
    ("==", BinaryOp::Equal),
    ("<>", BinaryOp::NotEqual),
];
const SUMS: [(&str, BinaryOp); 2] = [("+", BinaryOp::Add), ("-", BinaryOp::Sub)];
const PRODUCTS: [(&str, BinaryOp); 2] = [("*", BinaryOp::Mul), ("/", BinaryOp::Div)];

impl Parser<'_> {
    pub fn expression(&mut self) -> Expr {
        let start = self.span();
        if !self.accept_word("if") {
            return self.disjunction();
        }
        let condition = Box::new(self.expression());
        self.word("then");
        let then = Box::new(self.expression());
        self.word("else");
        let otherwise = Box::new(self.expression());
        let (ty, span) = (then.ty.clone(), start.to(otherwise.span));
        Expr::new(ExprKind::If { condition, then, otherwise }, ty, span)
    }

    fn disjunction(&mut self) -> Expr {
        let mut left = self.conjunction();
        while self.accept_word("or") {
            let right = self.conjunction();
            left = binary(BinaryOp::Or, left, right);
        }
        left
    }

    fn conjunction(&mut self) -> Expr {
        let mut left = self.negation();
        while self.accept_word("and") {
            let right = self.negation();
            left = binary(BinaryOp::And, left, right);
        }
        left
    }

    fn negation(&mut self) -> Expr {
        let start = self.span();
        if self.accept_word("not") {
            let operand = self.relation();
            let (ty, span) = (operand.ty.clone(), start.to(operand.span));
            return Expr::new(ExprKind::Unary(UnaryOp::Not, Box::new(operand)), ty, span);
        }
        self.relation()
    }

    fn relation(&mut self) -> Expr {
        let left = self.sum();
        match self.accept_operator(&RELATIONS) {
            Some(op) => {
                let right = self.sum();
                binary(op, left, right)
            }
            None => left,
        }
    }

    fn sum(&mut self) -> Expr {
        let start = self.span();
        let mut left = if self.accept("-") {
            let operand = self.product();
            let (ty, span) = (operand.ty.clone(), start.to(operand.span));
            match operand.kind {
                ExprKind::Real(value) => Expr::real(-value, span),
                ExprKind::Integer(value) => Expr::integer(-value, span),
                _ => Expr::new(ExprKind::Unary(UnaryOp::Negate, Box::new(operand)), ty, span),
            }
        } else {
            self.product()
        };
        while let Some(op) = self.accept_operator(&SUMS) {
            let right = self.product();
            left = binary(op, left, right);
        }
        left
    }

    fn product(&mut self) -> Expr {
        let mut left = self.power();
        while let Some(op) = self.accept_operator(&PRODUCTS) {
            let right = self.power();
            left = binary(op, left, right);
        }
        left
    }

    fn power(&mut self) -> Expr {
        let left = self.primary();
        if self.accept("^") {
            let right = self.primary();
            return binary(BinaryOp::Pow, left, right);
        }
        left
    }

    fn primary(&mut self) -> Expr {
        let (token, start) = self.next();
        match token {
            Token::Number(text) => match text.parse() {
                Ok(value) => Expr::integer(value, start),
                Err(_) => Expr::real(text.parse().expect("a number"), start),
            },
            Token::Text(text) => Expr::string(&text, start),
            Token::Symbol("{") => {
                let items = self.list("}");
                let ty = items[0].ty.with_outer(&[Dim::Known(items.len() as u64)]);
                Expr::new(ExprKind::Array(items), ty, start.to(self.last_span()))
            }
            Token::Symbol("(") => self.parenthesis(start),
            Token::Name(name) => self.named(&name, start),
            other => panic!("no expression begins with {other:?}"),
        }
    }

    /// `(a)` or `(a, , b)`
    fn parenthesis(&mut self, start: Span) -> Expr {
        let mut items = Vec::new();
        loop {
            let is_empty = self.peek(",") || self.peek(")");
            items.push((!is_empty).then(|| self.expression()));
            if !self.accept(",") {
                break;
            }
        }
        self.symbol(")");
        match items.as_mut_slice() {
            [Some(_)] => items.remove(0).expect("one item"),
            _ => Expr::new(ExprKind::Tuple(items), Type::REAL, start.to(self.last_span())),
        }
    }

    fn named(&mut self, name: &str, start: Span) -> Expr {
        match name {
            "time" => return Expr::new(ExprKind::Time, Type::REAL, start),
            "true" | "false" => return Expr::boolean(name == "true", start),
            _ => {}
        }
        if self.accept("(") {
            let arguments = if self.accept(")") { Vec::new() } else { self.list(")") };
            return self.call(name, arguments, start.to(self.last_span()));
        }
        let base = self.reference(name, start);
        if !self.accept("[") {
            return base;
        }
        let mut subscripts = Vec::new();
        loop {
            subscripts.push(if self.accept(":") { Subscript::All } else { Subscript::Index(self.expression()) });
            if !self.accept(",") {
                break;
            }
        }
        self.symbol("]");
        let n = subscripts.iter().filter(|s| matches!(s, Subscript::Index(_))).count();
        let (ty, span) = (base.ty.element(n), start.to(self.last_span()));
        Expr::new(ExprKind::Index { base: Box::new(base), subscripts }, ty, span)
    }

    fn reference(&self, name: &str, span: Span) -> Expr {
        if let Some(i) = self.locals.iter().position(|l| l.name == name) {
            let ty = self.locals[i].ty.clone();
            return Expr::new(ExprKind::Local(LocalId::from_usize(i)), ty, span);
        }
        let found = self.model.variables.iter().find(|(_, v)| v.name == name);
        let (id, variable): (VarId, _) = found.unwrap_or_else(|| panic!("no variable {name}"));
        Expr::new(ExprKind::Var(id), variable.ty.clone(), span)
    }

    fn call(&mut self, name: &str, arguments: Vec<Expr>, span: Span) -> Expr {
        if let Some(i) = self.model.functions.values().position(|f| f.name == name) {
            let id = FunctionId::from_usize(i);
            let function = &self.model.functions[id];
            let ty = function.outputs.first().map_or(Type::UNIT, |&o| function.locals[o].ty.clone());
            return Expr::new(ExprKind::Call { function: id, arguments }, ty, span);
        }
        let function = Builtin::from_name(name).unwrap_or_else(|| panic!("no function {name}"));
        let ty = match function {
            Builtin::Initial | Builtin::Terminal | Builtin::Edge | Builtin::Change | Builtin::Sample => Type::BOOLEAN,
            Builtin::Integer | Builtin::Sign => Type::INTEGER,
            Builtin::Smooth => arguments[1].ty.clone(),
            Builtin::Pre | Builtin::NoEvent | Builtin::Abs | Builtin::Previous => arguments[0].ty.clone(),
            Builtin::Clock => Type::scalar(BaseType::Clock),
            Builtin::Sum => Type::scalar(arguments[0].ty.base),
            Builtin::Der => Type { base: BaseType::Real, dims: arguments[0].ty.dims.clone() },
            _ => Type::REAL,
        };
        Expr::builtin(function, arguments, ty, span)
    }

    fn list(&mut self, close: &'static str) -> Vec<Expr> {
        let mut items = vec![self.expression()];
        while self.accept(",") {
            items.push(self.expression());
        }
        self.symbol(close);
        items
    }
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    let span = left.span.to(right.span);
    let is_logical = RELATIONS.iter().any(|r| r.1 == op) || matches!(op, BinaryOp::And | BinaryOp::Or);
    let dims = if left.ty.rank() > right.ty.rank() { left.ty.dims.clone() } else { right.ty.dims.clone() };
    let base = match (is_logical, op, left.ty.base, right.ty.base) {
        (true, ..) => BaseType::Boolean,
        (_, BinaryOp::Div | BinaryOp::Pow, ..) => BaseType::Real,
        (_, _, BaseType::Integer, BaseType::Integer) => BaseType::Integer,
        (_, _, base, BaseType::Integer) => base,
        (_, _, _, base) => base,
    };
    Expr::new(ExprKind::Binary(op, Box::new(left), Box::new(right)), Type { base, dims }, span)
}
