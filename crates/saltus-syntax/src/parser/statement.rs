//! Statements of algorithms.

use saltus_base::Span;

use super::Parser;
use crate::ast::{Annotated, BinaryOp, ComponentRef, Expr, ExprKind, Statement, StatementKind};
use crate::diagnostics;
use crate::token::Kind;

impl Parser<'_> {
    /// One statement with its `;`.
    pub(super) fn statement(&mut self) -> Statement {
        self.height = 0;
        let start = self.span();
        if self.declaration_ahead() {
            self.report_misplaced_declaration();
            self.element();
            let span = self.since(start);
            return Statement { kind: StatementKind::Error, comment: Annotated::default(), span };
        }
        let kind = match self.kind() {
            Kind::If => {
                let (branches, otherwise) = self.if_block(Self::statement);
                StatementKind::If { branches, otherwise }
            }
            Kind::For => {
                let (indices, body) = self.for_block(Self::statement);
                StatementKind::For { indices, body }
            }
            Kind::While => {
                let (condition, body) = self.while_block(Self::statement);
                StatementKind::While { condition, body }
            }
            Kind::When => StatementKind::When { branches: self.when_block(Self::statement) },
            Kind::Break => self.word(StatementKind::Break),
            Kind::Return => self.word(StatementKind::Return),
            _ => self.simple_statement(),
        };
        let comment = self.annotated();
        let span = self.since(start);
        self.end_item();
        Statement { kind, comment, span }
    }

    fn word(&mut self, kind: StatementKind) -> StatementKind {
        self.at += 1;
        kind
    }

    fn simple_statement(&mut self) -> StatementKind {
        let left = self.simple_expression();
        match self.kind() {
            Kind::Assign => {}
            Kind::Equals => self.remark(diagnostics::equals_in_algorithm(self.span())),
            _ => return self.lone_statement(left),
        }
        self.at += 1;
        let value = self.expression();
        self.assignment(left, value)
    }

    fn assignment(&mut self, left: Expr, value: Expr) -> StatementKind {
        match left.kind {
            ExprKind::Ref(target) => StatementKind::Assign { target: *target, value },
            ExprKind::Parenthesised(entries) => self.tuple_assignment(left.span, entries, value),
            ExprKind::Error => StatementKind::Error,
            _ => {
                self.remark(diagnostics::not_assignable(left.span));
                StatementKind::Error
            }
        }
    }

    fn tuple_assignment(&mut self, span: Span, entries: Vec<Option<Expr>>, value: Expr) -> StatementKind {
        let mut targets: Vec<Option<ComponentRef>> = Vec::with_capacity(entries.len());
        for entry in entries {
            match entry.map(|e| (e.span, e.kind)) {
                None => targets.push(None),
                Some((_, ExprKind::Ref(target))) => targets.push(Some(*target)),
                Some((span, _)) => {
                    self.remark(diagnostics::not_assignable(span));
                    return StatementKind::Error;
                }
            }
        }
        match value.kind {
            ExprKind::Call(call) => StatementKind::AssignTuple { targets, call: *call },
            ExprKind::Error => StatementKind::Error,
            _ => {
                self.remark(diagnostics::tuple_needs_call(value.span).label(span, "several targets"));
                StatementKind::Error
            }
        }
    }

    fn lone_statement(&mut self, expr: Expr) -> StatementKind {
        match expr.kind {
            ExprKind::Call(call) => StatementKind::Call(*call),
            ExprKind::Binary(BinaryOp::Equal, left, right) => {
                let place = self.operator_between(left.span, right.span, "==");
                self.remark(diagnostics::comparison_as_assignment(place));
                self.assignment(*left, *right)
            }
            ExprKind::Error => {
                self.expected("a statement");
                StatementKind::Error
            }
            _ => {
                match self.is(Kind::Semicolon) || self.on_new_line() {
                    true => self.remark(diagnostics::not_a_statement(expr.span)),
                    false => self.expected("`:=`"),
                }
                StatementKind::Error
            }
        }
    }
}
