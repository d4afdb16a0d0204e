//! Equations.

use saltus_base::Span;

use super::Parser;
use crate::ast::{Annotated, BinaryOp, ComponentRef, Equation, EquationKind, Expr, ExprKind};
use crate::diagnostics;
use crate::token::Kind;

impl Parser<'_> {
    /// One equation with its `;`.
    pub(super) fn equation(&mut self) -> Equation {
        self.height = 0;
        let start = self.span();
        if self.declaration_ahead() {
            return self.misplaced_declaration(start);
        }
        let kind = match self.kind() {
            Kind::If => {
                let (branches, otherwise) = self.if_block(Self::equation);
                EquationKind::If { branches, otherwise }
            }
            Kind::For => {
                let (indices, body) = self.for_block(Self::equation);
                EquationKind::For { indices, body }
            }
            Kind::When => EquationKind::When { branches: self.when_block(Self::equation) },
            Kind::Connect => {
                let (from, to) = self.connect();
                EquationKind::Connect { from, to }
            }
            _ => self.simple_equation(),
        };
        let comment = self.annotated();
        let span = self.since(start);
        self.end_item();
        Equation { kind, comment, span }
    }

    fn misplaced_declaration(&mut self, start: Span) -> Equation {
        self.report_misplaced_declaration();
        self.element();
        Equation { kind: EquationKind::Error, comment: Annotated::default(), span: self.since(start) }
    }

    pub(super) fn report_misplaced_declaration(&mut self) {
        let found = self.found();
        self.remark(diagnostics::element_after_equations(self.span(), self.section, &found));
    }

    /// `connect(a, b)`
    pub(super) fn connect(&mut self) -> (ComponentRef, ComponentRef) {
        self.at += 1;
        let open = self.token();
        self.expect(Kind::LeftParen);
        let from = self.component_ref("a connector");
        if !self.eat(Kind::Comma) {
            self.expected("`,` and a second connector");
        }
        let to = self.component_ref("a connector");
        self.close(open);
        (from, to)
    }

    fn simple_equation(&mut self) -> EquationKind {
        let left = self.simple_expression();
        match self.kind() {
            Kind::Equals => {}
            Kind::Assign => self.remark(diagnostics::assign_in_equation(self.span())),
            _ => return self.lone_expression(left),
        }
        self.at += 1;
        let right = self.expression();
        EquationKind::Equality { left, right }
    }

    fn lone_expression(&mut self, expr: Expr) -> EquationKind {
        match expr.kind {
            ExprKind::Call(call) => EquationKind::Call(*call),
            ExprKind::Binary(BinaryOp::Equal, left, right) => {
                let place = self.operator_between(left.span, right.span, "==");
                self.remark(diagnostics::comparison_as_equation(place));
                EquationKind::Equality { left: *left, right: *right }
            }
            ExprKind::Error => {
                self.expected("an equation");
                EquationKind::Error
            }
            _ => {
                match self.is(Kind::Semicolon) || self.on_new_line() {
                    true => self.remark(diagnostics::not_an_equation(expr.span)),
                    false => self.expected("`=`"),
                }
                EquationKind::Error
            }
        }
    }

    /// The place of `operator` in the text between two operands.
    pub(super) fn operator_between(&self, left: Span, right: Span, operator: &str) -> Span {
        let gap = self.text.get(left.end as usize..right.start as usize).unwrap_or("");
        match gap.find(operator) {
            Some(at) => {
                let start = left.end + at as u32;
                Span::new(self.file, start, start + operator.len() as u32)
            }
            None => left.to(right),
        }
    }
}
