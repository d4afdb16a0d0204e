//! Expressions.
//!
//! Binary operators are parsed by precedence climbing. From weak to strong: `:` `or` `and` `not` relations,
//! `+ -` (with an optional sign in front of the whole sum), `* /`, `^`. Relations and powers do not chain.

use saltus_base::Span;

use super::{MAX_HEIGHT, Parser};
use crate::ast::{BinaryOp, Call, ComponentRef, Expr, ExprKind, ForIndex, NamedArgument, RefPart, UnaryOp};
use crate::diagnostics;
use crate::lexer::string_value;
use crate::token::{Kind, Token};

const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const RELATION: u8 = 4;
const SUM: u8 = 5;
const PRODUCT: u8 = 6;
const POWER: u8 = 7;

fn binary_operator(kind: Kind) -> Option<(u8, BinaryOp)> {
    Some(match kind {
        Kind::Or => (OR, BinaryOp::Or),
        Kind::And => (AND, BinaryOp::And),
        Kind::Less => (RELATION, BinaryOp::Less),
        Kind::LessEqual => (RELATION, BinaryOp::LessEqual),
        Kind::Greater => (RELATION, BinaryOp::Greater),
        Kind::GreaterEqual => (RELATION, BinaryOp::GreaterEqual),
        Kind::EqualEqual => (RELATION, BinaryOp::Equal),
        Kind::NotEqual => (RELATION, BinaryOp::NotEqual),
        Kind::Plus => (SUM, BinaryOp::Add),
        Kind::Minus => (SUM, BinaryOp::Subtract),
        Kind::DotPlus => (SUM, BinaryOp::ElementAdd),
        Kind::DotMinus => (SUM, BinaryOp::ElementSubtract),
        Kind::Star => (PRODUCT, BinaryOp::Multiply),
        Kind::Slash => (PRODUCT, BinaryOp::Divide),
        Kind::DotStar => (PRODUCT, BinaryOp::ElementMultiply),
        Kind::DotSlash => (PRODUCT, BinaryOp::ElementDivide),
        Kind::Caret => (POWER, BinaryOp::Power),
        Kind::DotCaret => (POWER, BinaryOp::ElementPower),
        _ => return None,
    })
}

fn sign(kind: Kind) -> Option<UnaryOp> {
    Some(match kind {
        Kind::Plus => UnaryOp::Plus,
        Kind::Minus => UnaryOp::Minus,
        Kind::DotPlus => UnaryOp::ElementPlus,
        Kind::DotMinus => UnaryOp::ElementMinus,
        _ => return None,
    })
}

impl Parser<'_> {
    pub(crate) fn expression(&mut self) -> Expr {
        if self.is(Kind::If) {
            return self.if_expression();
        }
        self.simple_expression()
    }

    /// An expression that does not begin with `if`: an operand or a range.
    pub(super) fn simple_expression(&mut self) -> Expr {
        let first = self.binary(OR);
        if !self.is(Kind::Colon) {
            return first;
        }
        self.at += 1;
        let second = self.binary(OR);
        let third = if self.eat(Kind::Colon) { Some(self.binary(OR)) } else { None };
        self.height += 1;
        let (step, stop) = match third {
            Some(stop) => (Some(Box::new(second)), stop),
            None => (None, second),
        };
        let span = first.span.to(stop.span);
        Expr { kind: ExprKind::Range { start: Box::new(first), step, stop: Box::new(stop) }, span }
    }

    fn if_expression(&mut self) -> Expr {
        let start = self.span();
        let kind = self.nested(|p| p.if_parts(start)).unwrap_or(ExprKind::Error);
        self.height += 1;
        Expr { kind, span: self.since(start) }
    }

    fn if_parts(&mut self, start: Span) -> ExprKind {
        let mut branches = Vec::with_capacity(1);
        loop {
            self.at += 1;
            let condition = self.expression();
            self.expect_then(start, Kind::If);
            let value = self.expression();
            branches.push((condition, value));
            if !self.is(Kind::Elseif) {
                break;
            }
        }
        if !self.eat(Kind::Else) {
            let found = self.found();
            self.error(diagnostics::missing_else(self.span(), start, &found));
            let otherwise = self.error_expr();
            return ExprKind::If(branches, Box::new(otherwise));
        }
        let otherwise = self.expression();
        ExprKind::If(branches, Box::new(otherwise))
    }

    pub(super) fn expect_then(&mut self, start: Span, block: Kind) {
        if !self.eat(Kind::Then) && !self.recovering {
            let (place, found) = (self.place_of_missing_word(), self.found());
            self.error(diagnostics::missing_then(place, start, block, &found));
            self.recovering = !self.on_new_line();
        }
    }

    /// Behind the previous token if the line ends there, else the token found instead.
    pub(super) fn place_of_missing_word(&self) -> Span {
        if self.on_new_line() { self.behind_previous() } else { self.span() }
    }

    fn error_expr(&self) -> Expr {
        Expr { kind: ExprKind::Error, span: self.behind_previous() }
    }

    /// Operators that bind at least as strongly as `weakest`. Leaves in `height` the maximum of what it was
    /// and the height of the result.
    fn binary(&mut self, weakest: u8) -> Expr {
        let outer = std::mem::take(&mut self.height);
        let mut left = self.operand(weakest);
        let mut height = self.height + 1;
        let mut first_of_chain: Option<(u8, Span)> = None;
        while let Some((strength, operator)) = binary_operator(self.kind()) {
            if strength < weakest {
                break;
            }
            let place = self.span();
            if let Some((RELATION | POWER, first)) = first_of_chain.filter(|&(s, _)| s == strength) {
                self.remark(match strength {
                    POWER => diagnostics::chained_power(place, first),
                    _ => diagnostics::chained_relation(place, first),
                });
            }
            first_of_chain = Some((strength, place));
            self.at += 1;
            self.height = 0;
            let right = self.binary(strength + 1);
            height = height.max(self.height) + 1;
            if height > MAX_HEIGHT {
                self.error(diagnostics::too_long_chain(left.span, MAX_HEIGHT));
                height = 1;
                left = Expr { kind: ExprKind::Error, span: left.span.to(right.span) };
                continue;
            }
            let span = left.span.to(right.span);
            left = Expr { kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)), span };
        }
        self.height = outer.max(height);
        left
    }

    fn operand(&mut self, weakest: u8) -> Expr {
        let token = self.token();
        match token.kind {
            Kind::Ident | Kind::Integer | Kind::Real => self.primary(),
            Kind::Not => {
                if weakest > NOT {
                    self.remark(diagnostics::operand_needs_parentheses(self.span(), Kind::Not));
                }
                self.unary(UnaryOp::Not, RELATION)
            }
            Kind::If => {
                self.remark(diagnostics::operand_needs_parentheses(self.span(), Kind::If));
                self.if_expression()
            }
            kind => match sign(kind) {
                Some(operator) => {
                    if weakest > SUM || self.sign_follows_operator() {
                        self.remark(diagnostics::sign_needs_parentheses(self.span(), kind));
                        return self.unary(operator, POWER);
                    }
                    self.unary(operator, PRODUCT)
                }
                None => self.primary(),
            },
        }
    }

    /// True in `a + -b` and `--b`, where the grammar has no place for the second sign.
    fn sign_follows_operator(&self) -> bool {
        self.previous().is_some_and(|t| sign(t.kind).is_some())
    }

    fn unary(&mut self, operator: UnaryOp, strength: u8) -> Expr {
        let start = self.span();
        let operand = self.nested(|p| {
            p.at += 1;
            p.binary(strength)
        });
        let operand = operand.unwrap_or_else(|| self.error_expr());
        self.height += 1;
        let span = start.to(operand.span);
        Expr { kind: ExprKind::Unary(operator, Box::new(operand)), span }
    }

    fn primary(&mut self) -> Expr {
        let token = self.token();
        let span = self.span_of(token);
        let kind = match token.kind {
            Kind::Ident => return self.ref_or_call(),
            Kind::Dot if self.kind_at(1) == Kind::Ident => return self.ref_or_call(),
            Kind::Integer => self.integer(token),
            Kind::Real => self.real(token),
            Kind::String => ExprKind::String(string_value(self.slice(token))),
            Kind::True => ExprKind::Boolean(true),
            Kind::False => ExprKind::Boolean(false),
            Kind::End if self.in_subscripts => ExprKind::End,
            Kind::Der | Kind::Initial | Kind::Pure if self.kind_at(1) == Kind::LeftParen => {
                let name = self.keyword_ref();
                return self.call(name);
            }
            Kind::LeftParen => return self.bracketed(Self::parenthesised),
            Kind::LeftBracket => return self.bracketed(Self::matrix),
            Kind::LeftBrace => return self.bracketed(Self::array),
            _ => return self.no_expression(),
        };
        self.at += 1;
        Expr { kind, span }
    }

    fn real(&mut self, token: Token) -> ExprKind {
        let value = self.slice(token).parse().unwrap_or(f64::NAN);
        if f64::is_infinite(value) {
            self.remark(diagnostics::number_too_large(self.span_of(token)));
        }
        ExprKind::Real(value)
    }

    /// An Integer, or a Real where it is too large for one.
    fn integer(&mut self, token: Token) -> ExprKind {
        match self.slice(token).parse() {
            Ok(value) => ExprKind::Integer(value),
            Err(_) => self.real(token),
        }
    }

    fn no_expression(&mut self) -> Expr {
        let kind = self.kind();
        let is_block_end = matches!(self.kind_at(1), Kind::Ident | Kind::If | Kind::For | Kind::When | Kind::While);
        if kind == Kind::End && !is_block_end && !self.on_new_line() {
            self.remark(diagnostics::end_outside_subscripts(self.span()));
            self.at += 1;
            let span = self.behind_previous();
            return Expr { kind: ExprKind::End, span };
        }
        if kind.is_keyword() && self.keyword_as_name() {
            self.remark(diagnostics::keyword_as_identifier(self.span(), kind));
            let reference = self.keyword_ref();
            let span = reference.span;
            return Expr { kind: ExprKind::Ref(Box::new(reference)), span };
        }
        self.expected("an expression");
        self.error_expr()
    }

    /// A keyword in the middle of a line, where an operator or the end of the expression follows.
    fn keyword_as_name(&self) -> bool {
        let next = self.kind_at(1);
        let ends = matches!(next, Kind::Semicolon | Kind::Comma | Kind::Equals) || next.is_closing();
        let word = !matches!(self.kind(), Kind::Then | Kind::Else | Kind::Elseif | Kind::Loop | Kind::For | Kind::If);
        word && (ends || binary_operator(next).is_some()) && !self.at_boundary()
    }

    fn bracketed(&mut self, rule: fn(&mut Self, Token) -> ExprKind) -> Expr {
        let start = self.span();
        let kind = self.nested(|p| {
            let open = p.bump();
            rule(p, open)
        });
        self.height += 1;
        Expr { kind: kind.unwrap_or(ExprKind::Error), span: self.since(start) }
    }

    fn parenthesised(&mut self, open: Token) -> ExprKind {
        let start = self.span_of(open);
        let entries = self.output_list(open);
        let span = self.since(start);
        if !matches!(self.kind(), Kind::LeftBracket | Kind::Dot) {
            return ExprKind::Parenthesised(entries);
        }
        let base = Box::new(Expr { kind: ExprKind::Parenthesised(entries), span });
        let subscripts = self.subscripts();
        let mut parts: Vec<RefPart> = Vec::new();
        while self.eat(Kind::Dot) {
            parts.push(self.ref_part("an identifier behind `.`"));
        }
        self.height += 1;
        ExprKind::Access { base, subscripts, parts }
    }

    /// `a, , c)`: what follows the parenthesis `open`, with it the closing one.
    fn output_list(&mut self, open: Token) -> Vec<Option<Expr>> {
        if self.eat(Kind::RightParen) {
            return Vec::new();
        }
        let mut entries = Vec::with_capacity(1);
        loop {
            match self.kind() {
                Kind::Comma => entries.push(None),
                Kind::RightParen => {
                    entries.push(None);
                    break;
                }
                _ => {
                    let entry = self.expression();
                    entries.push(Some(entry));
                }
            }
            if self.is(Kind::Comma) && self.kind_at(1) == Kind::RightParen {
                self.at += 1;
                entries.push(None);
                break;
            }
            if !self.next_in_list(open) {
                break;
            }
        }
        self.close(open);
        entries
    }

    fn matrix(&mut self, open: Token) -> ExprKind {
        if self.is(Kind::RightBracket) {
            self.remark(diagnostics::empty_brackets(self.span(), "a matrix entry", "]"));
            self.at += 1;
            return ExprKind::Matrix(Vec::new());
        }
        let mut rows = Vec::new();
        loop {
            let mut row = Vec::new();
            loop {
                row.push(self.expression());
                if !self.next_in_list(open) {
                    break;
                }
            }
            rows.push(row);
            if self.recovering || !self.eat(Kind::Semicolon) {
                break;
            }
        }
        self.close(open);
        ExprKind::Matrix(rows)
    }

    fn array(&mut self, open: Token) -> ExprKind {
        if self.is(Kind::RightBrace) {
            self.remark(diagnostics::empty_brackets(self.span(), "an array entry", "}"));
            self.at += 1;
            return ExprKind::Array(Vec::new());
        }
        let first = self.expression();
        if self.is(Kind::For) {
            let indices = self.for_clause();
            self.close(open);
            return ExprKind::Comprehension(Box::new(first), indices);
        }
        let mut entries = vec![first];
        while self.next_in_list(open) {
            entries.push(self.expression());
        }
        self.close(open);
        ExprKind::Array(entries)
    }

    /// `for i in 1:n, j in 1:m`, also without ranges.
    pub(super) fn for_clause(&mut self) -> Vec<ForIndex> {
        self.at += 1;
        let mut indices = Vec::with_capacity(1);
        loop {
            let name = self.ident("the name of a loop index");
            let range = if self.eat(Kind::In) { Some(self.expression()) } else { None };
            indices.push(ForIndex { name, range });
            if !self.eat(Kind::Comma) {
                return indices;
            }
        }
    }

    fn ref_or_call(&mut self) -> Expr {
        let reference = self.component_ref("a name");
        if self.is(Kind::LeftParen) {
            return self.call(reference);
        }
        let span = reference.span;
        Expr { kind: ExprKind::Ref(Box::new(reference)), span }
    }

    fn call(&mut self, name: ComponentRef) -> Expr {
        let start = name.span;
        let call = self.call_arguments(name);
        self.height += 1;
        Expr { kind: ExprKind::Call(Box::new(call)), span: self.since(start) }
    }

    /// The parenthesised arguments behind a name; the current token is `(`.
    pub(super) fn call_arguments(&mut self, name: ComponentRef) -> Call {
        let mut call = Call { name, arguments: Vec::new(), named: Vec::new(), iterators: Vec::new() };
        self.nested(|p| p.argument_list(&mut call));
        call
    }

    fn argument_list(&mut self, call: &mut Call) {
        let open = self.bump();
        if self.eat(Kind::RightParen) {
            return;
        }
        loop {
            if self.is(Kind::Ident) && self.kind_at(1) == Kind::Equals {
                let name = self.ident("a name");
                self.at += 1;
                call.named.push(NamedArgument { name, value: self.argument_value() });
            } else {
                if !call.named.is_empty() {
                    self.remark(diagnostics::positional_after_named(self.span()));
                }
                let value = self.argument_value();
                call.arguments.push(value);
            }
            if self.is(Kind::For) && call.arguments.len() == 1 && call.named.is_empty() {
                call.iterators = self.for_clause();
                break;
            }
            if !self.next_in_list(open) {
                break;
            }
        }
        self.close(open);
    }

    fn argument_value(&mut self) -> Expr {
        if !self.is(Kind::Function) {
            return self.expression();
        }
        let start = self.span();
        self.at += 1;
        let name = self.component_ref("the name of a function");
        if !self.is(Kind::LeftParen) {
            self.expected("`(`");
            return self.error_expr();
        }
        let call = self.call_arguments(name);
        self.height += 1;
        Expr { kind: ExprKind::PartialFunction(Box::new(call)), span: self.since(start) }
    }
}
