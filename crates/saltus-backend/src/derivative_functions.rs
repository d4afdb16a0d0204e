//! Derivatives of functions that have no `derivative` annotation ([`saltus_procedure::differentiate`]).
//!
//! In: a model and the functions whose derivatives are wanted. Out: the model with derivative functions of first order, also of
//! the functions that those call. Functions that take or return records are left out: equations know them by their fields.

use crate::tuning::work::MOST_DIFFERENTIATED_LEVELS;
use saltus_flat::{BaseType, FlatModel, FunctionId};
use saltus_procedure::differentiate::derivative_of;

/// The model with derivatives of these functions; `None` if not all of them can be differentiated.
pub fn with_derivatives(model: &FlatModel, functions: &[FunctionId]) -> Option<FlatModel> {
    let mut extended = model.clone();
    for &id in functions {
        let function = model.functions.get(id)?;
        let is_record = |id| function.locals.get(id).is_none_or(|local| matches!(local.ty.base, BaseType::Record(_)));
        if function.inputs.iter().chain(&function.outputs).any(|&id| is_record(id)) {
            return None;
        }
        derivative_of(&mut extended, id, MOST_DIFFERENTIATED_LEVELS).ok()?;
    }
    (!functions.is_empty()).then_some(extended)
}
