//! Functional mock-up units as data: what is in `modelDescription.xml` of FMI 2.0 and 3.0, and the archive around it.
//!
//! One [`ModelDescription`] covers both versions. [`write()`] makes the XML of its version, [`read`] gives the data back with the
//! place of everything, [`check`] applies the rules of the standard.
//!
//! ```
//! use saltus_fmi::{Causality, ModelDescription, ModelExchange, Type, Values, Variability, Variable, Version};
//!
//! let mut model = ModelDescription { version: Version::V3, model_name: "Gain".into(), ..Default::default() };
//! model.model_exchange = Some(ModelExchange::new("Gain"));
//! model.variables.push(Variable::independent("time", 0));
//! model.variables.push(Variable {
//!     name: "k".into(),
//!     reference: 1,
//!     causality: Causality::Parameter,
//!     variability: Variability::Tunable,
//!     start: Some(Values::Float(vec![2.0])),
//!     ..Variable::new(Type::Float64)
//! });
//! let text = saltus_fmi::write(&model).unwrap();
//! let file = saltus_base::SourceMap::new().add("modelDescription.xml", text.as_str());
//! let read = saltus_fmi::read(&text, file).unwrap();
//! assert_eq!(read.model, model);
//! assert!(saltus_fmi::check(&read).is_empty());
//! ```
//!
//! Invariants: references between variables are indices into [`ModelDescription::variables`] that exist; nothing here loads a
//! binary or knows Modelica.

pub mod archive;
mod attributes;
mod check;
mod check_structure;
pub mod diagnostics;
mod model;
mod names;
mod opened;
mod read;
mod read_variables;
mod variable;
mod words;
mod write;
mod write_variables;

pub use check::check;
pub use model::{
    BaseUnit, CoSimulation, DefaultExperiment, Dependency, DependencyKind, DisplayUnit, Interface, Kind, LogCategory,
    ModelDescription, ModelExchange, ModelStructure, Naming, TypeDefinition, Unit, Unknown, Version,
};
pub use names::is_structured;
pub use opened::{Opened, Unreadable, open};
pub use read::{Document, Places, read};
pub use variable::{
    Alias, Attributes, Causality, ClockAttributes, Dimension, EnumerationItem, Initial, IntervalVariability, Number,
    Type, Values, Variability, Variable,
};
pub use write::{WriteError, write};
