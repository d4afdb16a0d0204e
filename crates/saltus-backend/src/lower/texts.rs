//! Strings: known at compile time, or not at all.
//!
//! `"table" + String(2)` ⇒ `table2`. Strings that depend on anything that changes have no value here; in messages their
//! numbers are filled in when they are shown. (Specification: sections 3.6.1 and 3.7.1.2.)

use std::rc::Rc;

use saltus_base::Span;
use saltus_eval::MOST_STRING_BYTES;
use saltus_flat::{BaseType, BinaryOp, Expr, ExprKind};

use saltus_program::{Message, SlotId, SlotKind, SlotType};

use super::value::{Template, Value};
use super::{Lowered, Lowering};
use crate::dag::NodeId;
use crate::system::Assignment;

/// The text of a message before it is known where its numbers are stored.
#[derive(Clone, Debug)]
pub struct Wording {
    as_written: String,
    /// With numbers that take part.
    template: Option<Rc<Template>>,
    span: Span,
}

impl Wording {
    pub fn plain(text: String, span: Span) -> Wording {
        Wording { as_written: text, template: None, span }
    }

    pub fn with_numbers(as_written: String, template: Rc<Template>, span: Span) -> Wording {
        Wording { as_written, template: Some(template), span }
    }

    pub fn has_numbers(&self) -> bool {
        self.template.is_some()
    }
}

impl<'a> Lowering<'a, '_> {
    pub fn text_operation(&mut self, op: BinaryOp, a: Option<&str>, b: Option<&str>, span: Span) -> Lowered<Value> {
        if op == BinaryOp::Add {
            // A longer one is left to the simulation, which refuses it if it comes to that.
            let known = a.zip(b).filter(|(a, b)| a.len() + b.len() <= MOST_STRING_BYTES);
            return Ok(Value::Text(known.map(|(a, b)| format!("{a}{b}").into())));
        }
        let (Some(a), Some(b)) = (a, b) else {
            return self.unsupported("a comparison of Strings that are not constant", span);
        };
        let holds = match op {
            BinaryOp::Equal => a == b,
            BinaryOp::NotEqual => a != b,
            BinaryOp::Less => a < b,
            BinaryOp::LessEqual => a <= b,
            BinaryOp::Greater => a > b,
            BinaryOp::GreaterEqual => a >= b,
            _ => return self.broken("arithmetic with Strings", span),
        };
        Ok(Value::Number(self.system.dag.boolean(holds)))
    }

    /// A constant scalar as a literal of the type of `like`.
    pub fn literal(&self, value: &Value, like: &Expr) -> Option<Expr> {
        let span = like.span;
        let number = || value.number().and_then(|n| self.system.dag.value(n));
        Some(match (value, like.ty.base) {
            (Value::Text(Some(text)), _) => Expr::string(text, span),
            (_, BaseType::Real) => Expr::real(number()?, span),
            (_, BaseType::Integer) => Expr::integer(number()? as i64, span),
            (_, BaseType::Boolean) => Expr::boolean(number()? != 0.0, span),
            (_, BaseType::Enumeration(id)) => {
                Expr::new(ExprKind::EnumLiteral(id, number()? as u32), like.ty.clone(), span)
            }
            _ => return None,
        })
    }

    /// The text of a message: what is known of it, and where numbers take part what they are then.
    pub fn wording(&mut self, e: &'a Expr) -> Wording {
        let as_written = self.as_written(e);
        let template = match self.literally(|l| l.template(e)) {
            Ok(Value::Template(template)) if !template.holes.is_empty() => Some(template),
            _ => None,
        };
        Wording { as_written, template, span: e.span }
    }

    /// The message that is shown while the Boolean `decider` is `shown_if`. Nobody asks for its numbers otherwise, and they
    /// may not even exist then.
    pub fn message(&mut self, wording: Wording, decider: SlotId, shown_if: bool) -> Message {
        let Wording { as_written, template, span } = wording;
        let Some(template) = template else { return Message::Text(as_written) };
        let (decision, nothing) = (self.system.load(decider), self.system.dag.constant(0.0));
        let mut holes = Vec::with_capacity(template.holes.len());
        for (ty, value) in &template.holes {
            let mut slots = Vec::new();
            for node in value.scalars() {
                let (then, otherwise) = if shown_if { (node, nothing) } else { (nothing, node) };
                let guarded = self.system.dag.select(decision, then, otherwise);
                slots.push(self.shown_value(guarded, span));
            }
            holes.push((ty.clone(), slots));
        }
        Message::Template { as_written, text: self.text_procedure(&template), holes }
    }

    /// A number that a message shows, stored in the output section.
    fn shown_value(&mut self, node: NodeId, span: Span) -> SlotId {
        let number = self.system.checks.shown_values.len() + 1;
        let slot = self.system.add_slot(format!("shown {number}"), SlotKind::Auxiliary, SlotType::Real);
        self.system.checks.shown_values.push(Assignment { slot, node, span });
        slot
    }

    /// What is known of a text, and the rest as it is written.
    fn as_written(&mut self, e: &'a Expr) -> String {
        if let ExprKind::String(text) = &e.kind {
            return text.to_string();
        }
        let known = self.folding(|l| l.literally(|l| l.value(e)));
        if let Ok(Value::Text(Some(text))) = known {
            return text.to_string();
        }
        match &e.kind {
            ExprKind::Binary(BinaryOp::Add, left, right) => {
                format!("{}{}", self.as_written(left), self.as_written(right))
            }
            _ => format!("{{{}}}", self.text_of(e)),
        }
    }
}
