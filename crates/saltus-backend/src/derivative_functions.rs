//! Derivatives of functions that have no `derivative` annotation ([`saltus_procedure::differentiate`]).
//!
//! In: a model and the functions whose derivatives are wanted. Out: the model with derivative functions of first order, also of
//! the functions that those call. Of records the fields that are not Real keep their values.

use crate::tuning::work::MOST_DIFFERENTIATED_LEVELS;
use saltus_flat::{FlatModel, FunctionId};
use saltus_procedure::differentiate::derivative_of;

/// The model with derivatives of these functions; `None` if there are none, or not all of them can be differentiated.
pub fn with_derivatives(model: &FlatModel, functions: &[FunctionId]) -> Option<FlatModel> {
    if functions.is_empty() {
        return None;
    }
    let mut extended = model.clone();
    for &id in functions {
        derivative_of(&mut extended, id, MOST_DIFFERENTIATED_LEVELS).ok()?;
    }
    Some(extended)
}
