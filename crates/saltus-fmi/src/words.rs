//! The words of the schema for each enumeration, one table for reading and writing.

use crate::{Causality, DependencyKind, Initial, IntervalVariability, Naming, Type, Variability};

/// A value that the schema spells by a word.
pub(crate) trait Word: Copy + PartialEq + 'static {
    const WORDS: &'static [(&'static str, Self)];

    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, value)| *value == self).map_or("", |(word, _)| word)
    }

    fn from_word(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, value)| *value)
    }
}

impl Word for Causality {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("parameter", Causality::Parameter),
        ("calculatedParameter", Causality::CalculatedParameter),
        ("input", Causality::Input),
        ("output", Causality::Output),
        ("local", Causality::Local),
        ("independent", Causality::Independent),
        ("structuralParameter", Causality::StructuralParameter),
    ];
}

impl Word for Variability {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("constant", Variability::Constant),
        ("fixed", Variability::Fixed),
        ("tunable", Variability::Tunable),
        ("discrete", Variability::Discrete),
        ("continuous", Variability::Continuous),
    ];
}

impl Word for Initial {
    const WORDS: &'static [(&'static str, Self)] =
        &[("exact", Initial::Exact), ("approx", Initial::Approx), ("calculated", Initial::Calculated)];
}

impl Word for DependencyKind {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("dependent", DependencyKind::Dependent),
        ("constant", DependencyKind::Constant),
        ("fixed", DependencyKind::Fixed),
        ("tunable", DependencyKind::Tunable),
        ("discrete", DependencyKind::Discrete),
    ];
}

impl Word for IntervalVariability {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("constant", IntervalVariability::Constant),
        ("fixed", IntervalVariability::Fixed),
        ("tunable", IntervalVariability::Tunable),
        ("changing", IntervalVariability::Changing),
        ("countdown", IntervalVariability::Countdown),
        ("triggered", IntervalVariability::Triggered),
    ];
}

impl Word for Naming {
    const WORDS: &'static [(&'static str, Self)] = &[("flat", Naming::Flat), ("structured", Naming::Structured)];
}

/// As the elements of 3.0 are called.
impl Word for Type {
    const WORDS: &'static [(&'static str, Self)] = &[
        ("Float32", Type::Float32),
        ("Float64", Type::Float64),
        ("Int8", Type::Int8),
        ("UInt8", Type::UInt8),
        ("Int16", Type::Int16),
        ("UInt16", Type::UInt16),
        ("Int32", Type::Int32),
        ("UInt32", Type::UInt32),
        ("Int64", Type::Int64),
        ("UInt64", Type::UInt64),
        ("Boolean", Type::Boolean),
        ("String", Type::String),
        ("Binary", Type::Binary),
        ("Enumeration", Type::Enumeration),
        ("Clock", Type::Clock),
    ];
}

/// The types of 2.0 by the names of their elements.
pub(crate) const TYPES_OF_2: &[(&str, Type)] = &[
    ("Real", Type::Float64),
    ("Integer", Type::Int32),
    ("Boolean", Type::Boolean),
    ("String", Type::String),
    ("Enumeration", Type::Enumeration),
];

/// The name of a type's element in 2.0, if 2.0 has it.
pub(crate) fn element_of_2(kind: Type) -> Option<&'static str> {
    TYPES_OF_2.iter().find(|(_, k)| *k == kind).map(|(word, _)| *word)
}
