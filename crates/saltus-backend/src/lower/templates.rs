//! Strings that depend on values of the simulation, as arguments of calls.
//!
//! ```text
//! "x = " + String(x) + name        ⇒    "x = " + String(⟨hole 0⟩) + "motor",    hole 0: the number x
//! ```
//!
//! What is known is written into the text; each number is a hole, which the call gets as scalars and fills before it
//! evaluates the text. (Specification: section 3.7.1.2.)

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use saltus_base::{Index, Span};
use saltus_flat::{BaseType, Dim, Expr, ExprKind, FunctionId, LocalId, Type, VarId, Variability};

use super::statements::State;
use super::value::{Template, Value};
use super::{Lowered, Lowering};
use crate::dag::NodeId;

/// More numbers than this in one text are not kept from one statement to the next.
const MOST_HOLES: usize = 1000;

impl<'a> Lowering<'a, '_> {
    /// The String or array of Strings `e`, of which not everything is known.
    pub fn template(&mut self, e: &'a Expr) -> Lowered<Value> {
        let mut holes = Vec::new();
        let text = self.fill(e, &mut holes)?;
        let number = self.system.memo.n_templates;
        self.system.memo.n_templates += 1;
        Ok(Value::Template(Rc::new(Template { number, text, holes })))
    }

    /// The procedure that fills the holes; equal texts have the same one.
    pub fn text_procedure(&mut self, template: &Template) -> FunctionId {
        let holes: Vec<Type> = template.holes.iter().map(|(ty, _)| ty.clone()).collect();
        let key = format!("{holes:?} {:?}", template.text);
        let memo = &mut self.system.memo;
        if let Some(&id) = memo.text_ids.get(&key) {
            return id;
        }
        let id = FunctionId::from_usize(self.model.functions.len() + memo.texts.len());
        memo.texts.push(Arc::new(saltus_procedure::lower_template("String", &holes, &template.text)));
        memo.text_ids.insert(key, id);
        id
    }

    /// `e` with known Strings written out and numbers as holes.
    fn fill(&mut self, e: &'a Expr, holes: &mut Vec<(Type, Value)>) -> Lowered<Expr> {
        if e.ty.base != BaseType::String {
            return self.hole(e, holes);
        }
        if e.ty.dims.is_empty()
            && let Ok(Value::Text(Some(text))) = self.value(e)
        {
            self.mark_structural(e);
            return Ok(Expr::string(&text, e.span));
        }
        let kind = match &e.kind {
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.fill(a, holes)?, self.fill(b, holes)?);
                ExprKind::Binary(*op, Box::new(a), Box::new(b))
            }
            ExprKind::If { condition, then, otherwise } => ExprKind::If {
                condition: Box::new(self.fill(condition, holes)?),
                then: Box::new(self.fill(then, holes)?),
                otherwise: Box::new(self.fill(otherwise, holes)?),
            },
            ExprKind::Builtin { function, arguments } => {
                ExprKind::Builtin { function: *function, arguments: self.fill_all(arguments, holes)? }
            }
            ExprKind::Call { function, arguments } => {
                ExprKind::Call { function: *function, arguments: self.fill_all(arguments, holes)? }
            }
            ExprKind::Array(items) => ExprKind::Array(self.fill_all(items, holes)?),
            ExprKind::Var(id) if let Some(text) = self.state.texts.get(id).cloned() => {
                return Ok(inlined(&text, holes));
            }
            // A parameter whose value is only computed when the simulation starts stands for that computation.
            ExprKind::Var(id) if let Some(binding) = self.parameter_binding(*id) => return self.fill(binding, holes),
            _ => match self.folding(|l| l.value(e)) {
                Ok(Value::Text(Some(text))) => {
                    self.mark_structural(e);
                    return Ok(Expr::string(&text, e.span));
                }
                _ => return self.unsupported("a String that is not constant", e.span),
            },
        };
        Ok(Expr::new(kind, e.ty.clone(), e.span))
    }

    fn parameter_binding(&self, id: VarId) -> Option<&'a Expr> {
        let model = self.model;
        let variable = model.variables.get(id).filter(|v| v.variability <= Variability::Parameter)?;
        variable.binding.as_ref()
    }

    /// The text that an algorithm gives a String variable, if it is not known at compile time.
    ///
    /// ```text
    /// line := "x = " + String(x);      line: "x = " + String(⟨x⟩)
    /// line := line + ";";              line: "x = " + String(⟨x⟩) + ";"
    /// write(file, line);               the call gets x and evaluates the text
    /// ```
    pub fn assigned_text(&mut self, target: &'a Expr, value: &'a Expr) -> Option<(VarId, Rc<Template>)> {
        let ExprKind::Var(id) = target.kind else { return None };
        if value.ty.base != BaseType::String || !value.ty.dims.is_empty() || self.function.is_some() {
            return None;
        }
        match self.template(value) {
            Ok(Value::Template(text)) if !text.holes.is_empty() && text.holes.len() <= MOST_HOLES => Some((id, text)),
            _ => None,
        }
    }

    /// The texts after two branches: the one or the other, as the condition decides.
    pub fn merge_texts(&mut self, condition: NodeId, states: [&State; 2], span: Span) -> BTreeMap<VarId, Rc<Template>> {
        let mut merged = BTreeMap::new();
        let ids: BTreeSet<VarId> = states.iter().flat_map(|state| state.texts.keys().copied()).collect();
        for id in ids {
            let (Some(then), Some(otherwise)) = (text_in(states[0], id, span), text_in(states[1], id, span)) else {
                continue;
            };
            let mut holes = vec![(Type::BOOLEAN, Value::Number(condition))];
            let decision = Expr::new(ExprKind::Local(LocalId::from_usize(0)), Type::BOOLEAN, span);
            let kind = ExprKind::If {
                condition: Box::new(decision),
                then: Box::new(inlined(&then, &mut holes)),
                otherwise: Box::new(inlined(&otherwise, &mut holes)),
            };
            if holes.len() <= MOST_HOLES {
                let text = Expr::new(kind, then.text.ty.clone(), span);
                let number = self.system.memo.n_templates;
                self.system.memo.n_templates += 1;
                merged.insert(id, Rc::new(Template { number, text, holes }));
            }
        }
        merged
    }

    fn fill_all(&mut self, all: &'a [Expr], holes: &mut Vec<(Type, Value)>) -> Lowered<Vec<Expr>> {
        all.iter().map(|e| self.fill(e, holes)).collect()
    }

    fn hole(&mut self, e: &'a Expr, holes: &mut Vec<(Type, Value)>) -> Lowered<Expr> {
        let value = self.value(e)?;
        let dims: Vec<Dim> = value.dims().iter().map(|&d| Dim::Known(d as u64)).collect();
        let ty = Type::array(e.ty.base, dims);
        let local = LocalId::from_usize(holes.len());
        holes.push((ty.clone(), value));
        Ok(Expr::new(ExprKind::Local(local), ty, e.span))
    }
}

/// What a String variable is after some statements; `None` if that is not known.
fn text_in(state: &State, id: VarId, span: Span) -> Option<Rc<Template>> {
    match (state.texts.get(&id), state.variables.get(&id)) {
        (Some(text), _) => Some(text.clone()),
        (None, Some(Value::Text(Some(known)))) => {
            Some(Rc::new(Template { number: 0, text: Expr::string(known, span), holes: Vec::new() }))
        }
        _ => None,
    }
}

/// The text of a template with its holes behind those that are there.
fn inlined(template: &Template, holes: &mut Vec<(Type, Value)>) -> Expr {
    let n_before = holes.len();
    holes.extend(template.holes.iter().cloned());
    let mut text = template.text.clone();
    shift_holes(&mut text, n_before);
    text
}

fn shift_holes(text: &mut Expr, by: usize) {
    if let ExprKind::Local(id) = &mut text.kind {
        *id = LocalId::from_usize(id.index() + by);
    }
    text.for_each_child_mut(&mut |child| shift_holes(child, by));
}
