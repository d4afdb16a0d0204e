//! Declarations, equations, statements and functions of the test language.
//!
//! `@r.c` in front of an equation names the component it belongs to, `@connect` makes it a connection equation.

use std::sync::Arc;

use saltus_base::{IdVec, Index, Span};
use saltus_flat::{
    Algorithm, Attributes, BaseType, BinaryOp, Causality, Dim, Equation, EquationKind, Expr, ExprKind, FlatModel,
    Function, Local, LocalId, Origin, Prefix, Purity, Statement, StatementKind, Type, Variability, Variable,
};

use super::lexer::{Token, tokens};

pub struct Parser<'a> {
    pub model: &'a mut FlatModel,
    /// Locals of the function that is being read.
    pub locals: Vec<Local>,
    tokens: Vec<(Token, Span)>,
    at: usize,
}

/// The flat model written in `source`; panics where the text is wrong.
pub fn parse(source: &str) -> FlatModel {
    let mut model = FlatModel { name: "M".into(), ..FlatModel::default() };
    let mut parser = Parser { model: &mut model, locals: Vec::new(), tokens: tokens(source), at: 0 };
    parser.declarations();
    parser.sections();
    assert_eq!(parser.next().0, Token::End);
    model
}

impl Parser<'_> {
    pub fn next(&mut self) -> (Token, Span) {
        let token = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    pub fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    pub fn last_span(&self) -> Span {
        self.tokens[self.at - 1].1
    }

    pub fn peek(&self, symbol: &str) -> bool {
        matches!(&self.tokens[self.at].0, Token::Symbol(s) if *s == symbol)
    }

    pub fn peek_word(&self, word: &str) -> bool {
        matches!(&self.tokens[self.at].0, Token::Name(n) if n == word)
    }

    pub fn accept(&mut self, symbol: &str) -> bool {
        let found = self.peek(symbol);
        self.at += usize::from(found);
        found
    }

    pub fn accept_word(&mut self, word: &str) -> bool {
        let found = self.peek_word(word);
        self.at += usize::from(found);
        found
    }

    pub fn symbol(&mut self, symbol: &str) {
        assert!(self.accept(symbol), "expected {symbol}, found {:?}", self.tokens[self.at]);
    }

    pub fn word(&mut self, word: &str) {
        assert!(self.accept_word(word), "expected {word}, found {:?}", self.tokens[self.at]);
    }

    pub fn accept_operator(&mut self, operators: &[(&str, BinaryOp)]) -> Option<BinaryOp> {
        let found = operators.iter().find(|(symbol, _)| self.peek(symbol))?;
        self.at += 1;
        Some(found.1)
    }

    fn name(&mut self) -> (String, Span) {
        match self.next() {
            (Token::Name(name), span) => (name, span),
            other => panic!("expected a name, found {other:?}"),
        }
    }

    fn at_section(&self) -> bool {
        ["equation", "initial", "algorithm"].iter().any(|w| self.peek_word(w))
            || matches!(self.tokens[self.at].0, Token::End)
    }

    fn declarations(&mut self) {
        let mut is_protected = false;
        while !self.at_section() {
            if self.accept_word("function") {
                self.function();
                continue;
            }
            is_protected |= self.accept_word("protected");
            let causality = match () {
                _ if self.accept_word("input") => Causality::Input,
                _ if self.accept_word("output") => Causality::Output,
                _ => Causality::Local,
            };
            let prefix = if self.accept_word("flow") { Prefix::Flow } else { Prefix::None };
            let is_final = self.accept_word("final");
            let variability = match () {
                _ if self.accept_word("discrete") => Variability::Discrete,
                _ if self.accept_word("parameter") => Variability::Parameter,
                _ if self.accept_word("constant") => Variability::Constant,
                _ => Variability::Continuous,
            };
            let base = self.base_type();
            loop {
                self.variable(base, variability, causality, prefix, is_protected, is_final);
                if !self.accept(",") {
                    break;
                }
            }
            self.symbol(";");
        }
    }

    fn base_type(&mut self) -> BaseType {
        match self.name().0.as_str() {
            "Real" => BaseType::Real,
            "Integer" => BaseType::Integer,
            "Boolean" => BaseType::Boolean,
            "String" => BaseType::String,
            "Clock" => BaseType::Clock,
            other => panic!("no type {other}"),
        }
    }

    fn dims(&mut self) -> Vec<Dim> {
        let mut dims = Vec::new();
        if self.accept("[") {
            loop {
                match self.next().0 {
                    Token::Number(n) => dims.push(Dim::Known(n.parse().expect("a size"))),
                    other => panic!("expected a size, found {other:?}"),
                }
                if !self.accept(",") {
                    break;
                }
            }
            self.symbol("]");
        }
        dims
    }

    fn variable(
        &mut self,
        base: BaseType,
        variability: Variability,
        causality: Causality,
        prefix: Prefix,
        is_protected: bool,
        is_final: bool,
    ) {
        let (name, span) = self.name();
        let ty = Type { base, dims: self.dims() };
        let mut attributes = Attributes::default();
        if self.accept("(") {
            loop {
                let (name, _) = self.name();
                self.symbol("=");
                let value = self.expression();
                *attributes.slot(&name).expect("an attribute") = Some(value);
                if !self.accept(",") {
                    break;
                }
            }
            self.symbol(")");
        }
        let variability = match base {
            BaseType::Real => variability,
            _ => variability.min(Variability::Discrete),
        };
        let binding = self.accept("=").then(|| self.expression());
        self.model.variables.push(Variable {
            name,
            ty,
            variability,
            causality,
            prefix,
            attributes,
            binding,
            description: String::new(),
            is_protected,
            hide_result: false,
            is_structural: false,
            is_final,
            span,
        });
    }

    fn sections(&mut self) {
        loop {
            let initial = self.accept_word("initial");
            if self.accept_word("equation") {
                let list = self.equations(&[]);
                let section = if initial { &mut self.model.initial_equations } else { &mut self.model.equations };
                section.extend(list);
            } else if self.accept_word("algorithm") {
                let start = self.last_span();
                let statements = self.statements(&[]);
                let span = start.to(self.last_span());
                let section = if initial { &mut self.model.initial_algorithms } else { &mut self.model.algorithms };
                section.push(Algorithm { statements, component: Arc::from(""), span });
            } else {
                return;
            }
        }
    }

    fn at_end(&self, words: &[&str]) -> bool {
        self.at_section() || words.iter().any(|w| self.peek_word(w))
    }

    fn equations(&mut self, until: &[&str]) -> Vec<Equation> {
        let mut list = Vec::new();
        while !self.at_end(until) {
            let mut component = String::new();
            let mut origin = Origin::Declared;
            while self.accept("@") {
                match self.name().0 {
                    name if name == "connect" => origin = Origin::Connection,
                    name => component = name,
                }
            }
            let start = self.span();
            let kind = self.equation();
            let span = start.to(self.last_span());
            self.symbol(";");
            list.push(Equation { kind, origin, component: component.as_str().into(), span });
        }
        list
    }

    fn equation(&mut self) -> EquationKind {
        if self.accept_word("when") {
            let branches = self.branches(&["elsewhen", "end"], "elsewhen", Self::equations);
            self.word("end");
            self.word("when");
            return EquationKind::When { branches };
        }
        if self.accept_word("if") {
            let branches = self.branches(&["elseif", "else", "end"], "elseif", Self::equations);
            let otherwise = if self.accept_word("else") { self.equations(&["end"]) } else { Vec::new() };
            self.word("end");
            self.word("if");
            return EquationKind::If { branches, otherwise };
        }
        if let Some((state, value)) = self.pair("reinit") {
            return EquationKind::Reinit { state, value };
        }
        if let Some((condition, message)) = self.pair("assert") {
            return EquationKind::Assert { condition, message, level: None };
        }
        let left = self.expression();
        if !self.accept("=") {
            return EquationKind::Call(left);
        }
        let right = self.expression();
        let left = if right.ty.base == BaseType::Real { left.to_real() } else { left };
        let right = if left.ty.base == BaseType::Real { right.to_real() } else { right };
        EquationKind::Equality { left, right }
    }

    /// `name(a, b)`
    fn pair(&mut self, name: &str) -> Option<(Expr, Expr)> {
        if !self.accept_word(name) {
            return None;
        }
        self.symbol("(");
        let first = self.expression();
        self.symbol(",");
        let second = self.expression();
        self.symbol(")");
        Some((first, second))
    }

    fn branches<T>(
        &mut self,
        until: &[&str],
        next: &str,
        body: fn(&mut Self, &[&str]) -> Vec<T>,
    ) -> Vec<(Expr, Vec<T>)> {
        let mut branches = Vec::new();
        loop {
            let condition = self.expression();
            self.word("then");
            branches.push((condition, body(self, until)));
            if !self.accept_word(next) {
                return branches;
            }
        }
    }

    fn statements(&mut self, until: &[&str]) -> Vec<Statement> {
        let mut list = Vec::new();
        while !self.at_end(until) {
            let start = self.span();
            let kind = self.statement();
            let span = start.to(self.last_span());
            self.symbol(";");
            list.push(Statement { kind, span });
        }
        list
    }

    fn statement(&mut self) -> StatementKind {
        if self.accept_word("when") {
            let branches = self.branches(&["elsewhen", "end"], "elsewhen", Self::statements);
            self.word("end");
            self.word("when");
            return StatementKind::When { branches };
        }
        if self.accept_word("if") {
            let branches = self.branches(&["elseif", "else", "end"], "elseif", Self::statements);
            let otherwise = if self.accept_word("else") { self.statements(&["end"]) } else { Vec::new() };
            self.word("end");
            self.word("if");
            return StatementKind::If { branches, otherwise };
        }
        if self.accept_word("while") {
            let condition = self.expression();
            self.word("loop");
            let body = self.statements(&["end"]);
            self.word("end");
            self.word("while");
            return StatementKind::While { condition, body };
        }
        if let Some((state, value)) = self.pair("reinit") {
            return StatementKind::Reinit { state, value };
        }
        if let Some((condition, message)) = self.pair("assert") {
            return StatementKind::Assert { condition, message, level: None };
        }
        let target = self.expression();
        if !self.accept(":=") {
            return StatementKind::Call(target);
        }
        let value = self.expression();
        StatementKind::Assign { target, value }
    }

    /// `f input Real u; output Real y; protected Real z; algorithm … end f;`
    fn function(&mut self) {
        let (name, span) = self.name();
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        while !self.accept_word("algorithm") {
            let id = LocalId::from_usize(self.locals.len());
            if self.accept_word("input") {
                inputs.push(id);
            } else if self.accept_word("output") {
                outputs.push(id);
            } else {
                self.word("protected");
            }
            let base = self.base_type();
            let (name, span) = self.name();
            let ty = Type { base, dims: self.dims() };
            let sizes = vec![None; ty.rank()];
            let default = self.accept("=").then(|| self.expression());
            self.locals.push(Local { name, ty, sizes, default, span });
            self.symbol(";");
        }
        let body = self.statements(&["end"]);
        self.word("end");
        self.word(&name);
        self.symbol(";");
        let locals: IdVec<LocalId, Local> = std::mem::take(&mut self.locals).into_iter().collect();
        self.model.functions.push(Function {
            name,
            locals,
            inputs,
            outputs,
            body,
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
            span,
        });
    }
}

/// `variable = value` without a place, for large models.
pub fn equation(left: Expr, right: Expr) -> Equation {
    let kind = EquationKind::Equality { left, right };
    Equation { kind, origin: Origin::Declared, component: Arc::from(""), span: Span::nowhere() }
}

/// A scalar Real variable.
pub fn real_variable(name: String) -> Variable {
    Variable {
        name,
        ty: Type::REAL,
        variability: Variability::Continuous,
        causality: Causality::Local,
        prefix: Prefix::None,
        attributes: Attributes::default(),
        binding: None,
        description: String::new(),
        is_protected: false,
        hide_result: false,
        is_structural: false,
        is_final: false,
        span: Span::nowhere(),
    }
}

/// A reference to the variable with this number.
pub fn reference(number: usize) -> Expr {
    Expr::new(ExprKind::Var(saltus_flat::VarId::from_usize(number)), Type::REAL, Span::nowhere())
}
