//! What cannot be written out in an algorithm section is noted, to be called instead (see [`outline`](crate::outline)).
//!
//! The algorithm is executed to its end with unknown numbers in place of the results, so that one pass finds all such parts. What it
//! leaves is not used.

use saltus_flat::{BaseType, Expr, Statement, Type, VarId};
use saltus_program::{SlotKind, SlotType};

use super::value::Value;
use super::{Lowered, Lowering, Problem, assigned_variables, known_dims};
use crate::diagnostics;
use crate::outline::{Outlined, Part, is_possible_expression, is_possible_statement};
use crate::tuning::form::MOST_ELEMENTS;
use crate::tuning::work::MOST_RECORD_LEVELS;

impl<'a> Lowering<'a, '_> {
    /// With parts noted that cannot be written out. Whether there are any is known afterwards.
    pub fn outlining<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> (T, Vec<Outlined<'a>>) {
        let before = self.outlined.replace(Vec::new());
        let result = act(self);
        (result, std::mem::replace(&mut self.outlined, before).unwrap_or_default())
    }

    fn can_outline(&self, problem: &Problem) -> bool {
        self.outlined.is_some()
            && self.function.is_none()
            && !self.folds_parameters
            && (diagnostics::is_not_supported(problem) || diagnostics::is_too_large(problem))
    }

    pub fn outlined_statement(&mut self, statement: &'a Statement, problem: Problem) -> Lowered<()> {
        if !self.can_outline(&problem) || !is_possible_statement(self.model, statement) {
            return Err(problem);
        }
        self.note_part(Part::Statement(statement));
        let no = self.system.dag.boolean(false);
        self.state.broken = no;
        let assigned: Vec<VarId> =
            assigned_variables(self.model, std::slice::from_ref(statement)).into_keys().collect();
        for id in assigned {
            let ty = self.model.variables[id].ty.clone();
            if let Some(value) = self.unknown(&ty, 0) {
                self.state.variables.insert(id, value);
            }
        }
        Ok(())
    }

    pub fn outlined_expression(&mut self, e: &'a Expr, problem: Problem) -> Lowered<Value> {
        // A range that is too long is that for the call as well; what runs over it may be called.
        let is_long = e.ty.n_elements().is_none_or(|n| n > MOST_ELEMENTS);
        if !self.can_outline(&problem) || is_long || !is_possible_expression(self.model, e) {
            return Err(problem);
        }
        let Some(value) = self.unknown(&e.ty, 0) else { return Err(problem) };
        self.note_part(Part::Expr(e));
        Ok(value)
    }

    fn note_part(&mut self, part: Part<'a>) {
        let is_literal = self.is_literal;
        self.outlined.iter_mut().for_each(|parts| parts.push(Outlined { part, is_literal }));
    }

    /// A value of which nothing is known but its shape.
    fn unknown(&mut self, ty: &Type, level: u32) -> Option<Value> {
        let dims = known_dims(ty)?;
        let n: usize = dims.iter().product();
        match ty.base {
            BaseType::Real | BaseType::Integer | BaseType::Boolean | BaseType::Enumeration(_) => {
                let is_real = ty.base == BaseType::Real;
                let kind = if is_real { SlotKind::Algebraic } else { SlotKind::Discrete };
                let slot = self.system.add_slot("unknown", kind, SlotType::Real);
                let node = self.system.load(slot);
                Some(Value::numbers(dims, vec![node; n]))
            }
            BaseType::Record(id) if level < MOST_RECORD_LEVELS => {
                let model = self.model;
                let fields: Option<Vec<Value>> =
                    model.records.get(id)?.fields.iter().map(|f| self.unknown(&f.ty, level + 1)).collect();
                Value::assemble(dims, vec![Value::record(fields?); n])
            }
            _ => None,
        }
    }
}
