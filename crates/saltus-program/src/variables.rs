//! The variables of the model as the user knows them.

use std::ops::Deref;
use std::sync::Arc;

use saltus_flat::EnumId;

use crate::{SlotId, SlotType};

/// A scalar variable of the model as the user knows it. Its slot is also the reference under which other programs know it;
/// variables with the same slot are aliases of each other.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Variable {
    pub name: String,
    pub slot: SlotId,
    /// What the declaration says; the elements of an array share it.
    pub declared: Arc<Declared>,
}

/// What is known of a variable from its declaration.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Declared {
    pub ty: SlotType,
    pub causality: Causality,
    pub variability: Variability,
    /// `annotation(HideResult = true)`
    pub is_hidden: bool,
    pub is_protected: bool,
    pub is_final: bool,
    pub description: String,
    /// Empty if there is none, as the next two.
    pub unit: String,
    pub display_unit: String,
    pub quantity: String,
    /// Attributes that the declaration gives as literals.
    pub start: Option<f64>,
    pub fixed: Option<bool>,
    pub min: Option<f64>,
    pub max: Option<f64>,
    pub nominal: Option<f64>,
    /// Names the literals.
    pub enumeration: Option<EnumId>,
}

impl Deref for Variable {
    type Target = Declared;

    fn deref(&self) -> &Declared {
        &self.declared
    }
}

/// How a variable takes part in the exchange with the surroundings of the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Causality {
    Parameter,
    /// At the top level.
    Input,
    Output,
    Local,
}

/// When the value of a variable may change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize)]
pub enum Variability {
    Constant,
    Parameter,
    /// At events.
    Discrete,
    Continuous,
}

impl Declared {
    /// A continuous local variable of which nothing else is known.
    pub fn new(ty: SlotType) -> Self {
        Declared {
            ty,
            causality: Causality::Local,
            variability: Variability::Continuous,
            is_hidden: false,
            is_protected: false,
            is_final: false,
            description: String::new(),
            unit: String::new(),
            display_unit: String::new(),
            quantity: String::new(),
            start: None,
            fixed: None,
            min: None,
            max: None,
            nominal: None,
            enumeration: None,
        }
    }

    /// Constants and parameters do not change during a simulation.
    pub fn is_parameter(&self) -> bool {
        self.variability <= Variability::Parameter
    }
}

impl Variable {
    /// A continuous local variable of which nothing else is known.
    pub fn new(name: impl Into<String>, slot: SlotId, ty: SlotType) -> Self {
        Variable { name: name.into(), slot, declared: Arc::new(Declared::new(ty)) }
    }
}
