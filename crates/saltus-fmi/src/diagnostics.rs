//! The wording of everything this crate says: family E10xx and W10xx, functional mock-up units.

use saltus_base::{Code, Diagnostic, Span};

use crate::words::Word;
use crate::{Causality, Initial, Number, Variability};

pub(crate) fn not_xml(error: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E1001"), span, format!("modelDescription.xml is not well-formed XML: {error}"))
        .hint("ask for the FMU to be exported again; the file may have been cut off")
}

pub(crate) fn not_a_model_description(root: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E1002"), span, format!("the root element is `{root}`, expected `fmiModelDescription`"))
}

pub(crate) fn unsupported_version(version: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E1003"), span, format!("this FMU follows FMI `{version}`; Saltus reads 2.0 and 3.0"))
        .hint("export it as FMI 2.0 or 3.0")
}

pub(crate) fn missing_attribute(element: &str, attribute: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E1004"), span, format!("`{element}` needs the attribute `{attribute}`"))
}

pub(crate) fn bad_value(attribute: &str, text: &str, expected: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E1005"), span, format!("`{attribute}` is `{}`, expected {expected}", shortened(text)))
}

pub(crate) fn unknown_attribute(element: &str, attribute: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("W1006"), span, format!("the schema has no attribute `{attribute}` of `{element}`"))
}

pub(crate) fn unknown_element(element: &str, inside: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("W1007"), span, format!("the schema has no element `{element}` in `{inside}`"))
}

pub(crate) fn missing_element(element: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E1008"), span, format!("an element `{element}` is missing"))
}

pub(crate) fn dangling_reference(attribute: &str, reference: u32, is_3: bool, span: Span) -> Diagnostic {
    let what = if is_3 { "variable with the value reference" } else { "variable with the index" };
    Diagnostic::new(Code("E1009"), span, format!("`{attribute}` names {reference}, but there is no {what} {reference}"))
}

pub(crate) fn duplicate_name(what: &str, name: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::new(Code("E1010"), span, format!("there are two of the {what} `{name}`")).label(first, "the first one")
}

pub(crate) fn bad_variable_name(name: &str, is_structured: bool, span: Span) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code("E1011"),
        span,
        format!("`{}` is not a name of the naming convention that the FMU declares", shortened(name)),
    );
    match is_structured {
        true => diagnostic.hint("structured names are `a.b[1].c` and `der(a.b)`; other parts stand in single quotes"),
        false => diagnostic.hint("flat names are not empty and have no tabs or line breaks"),
    }
}

pub(crate) fn shared_reference(
    name: &str,
    other: &str,
    reference: u32,
    is_3: bool,
    span: Span,
    earlier: Span,
) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        Code("E1012"),
        span,
        format!("`{name}` and `{other}` have the same value reference {reference}"),
    )
    .label(earlier, "the other one");
    match is_3 {
        true => diagnostic.hint("in FMI 3.0 another name of a variable is an `Alias` element"),
        false => {
            diagnostic.hint("aliases may not both be inputs or parameters, and constants are aliases of constants")
        }
    }
}

pub(crate) fn illegal_combination(
    name: &str,
    causality: Causality,
    variability: Variability,
    span: Span,
) -> Diagnostic {
    let (causality, variability) = (causality.word(), variability.word());
    let message = format!("causality `{causality}` and variability `{variability}` of `{name}` do not go together");
    Diagnostic::new(Code("E1013"), span, message)
}

pub(crate) fn illegal_initial(name: &str, initial: Initial, allowed: &[Initial], span: Span) -> Diagnostic {
    let words: Vec<&str> = allowed.iter().map(|i| i.word()).collect();
    let message = format!("`{name}` may not have initial `{}`", initial.word());
    let diagnostic = Diagnostic::new(Code("E1014"), span, message);
    match words.is_empty() {
        true => diagnostic.hint("leave the attribute out"),
        false => diagnostic.hint(format!("its causality and variability allow {}", words.join(", "))),
    }
}

pub(crate) fn missing_start(name: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E1015"), span, format!("`{name}` needs a start value"))
        .hint("inputs, parameters, constants and variables with initial `exact` or `approx` have one")
}

pub(crate) fn forbidden_start(name: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E1016"), span, format!("`{name}` may not have a start value: it is calculated"))
}

pub(crate) fn other_number_of_starts(name: &str, n_elements: u64, n_values: usize, span: Span) -> Diagnostic {
    let message = format!("`{name}` has {n_elements} elements and {n_values} start values");
    Diagnostic::new(Code("E1017"), span, message).hint("give one value for all elements, or one for each")
}

pub(crate) fn undefined_unit(name: &str, unit: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E1018"), span, format!("the unit `{unit}` of `{name}` is not defined"))
        .hint("list it in UnitDefinitions")
}

pub(crate) fn undefined_display_unit(name: &str, unit: &str, display: &str, span: Span) -> Diagnostic {
    let message = format!("the display unit `{display}` of `{name}` is not defined for the unit `{unit}`");
    Diagnostic::new(Code("E1019"), span, message)
}

pub(crate) fn undefined_type(name: &str, declared: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E1020"), span, format!("the declared type `{declared}` of `{name}` is not defined"))
}

pub(crate) fn other_type(name: &str, declared: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E1021"), span, format!("the declared type `{declared}` of `{name}` is of another base type"))
}

pub(crate) fn independent_variables(n: usize, span: Span) -> Diagnostic {
    let message = format!("there are {n} independent variables, expected one");
    Diagnostic::new(Code("E1022"), span, message)
}

pub(crate) fn independent_not_real(name: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E1023"), span, format!("the independent variable `{name}` is not a floating-point number"))
}

pub(crate) fn continuous_of_discrete_type(name: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E1024"), span, format!("`{name}` is not a floating-point number and cannot be continuous"))
        .hint("in FMI 2.0 continuous is the default; write the variability")
}

pub(crate) fn not_listed(list: &str, name: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E1025"), span, format!("ModelStructure lacks `{name}` among the {list}"))
}

pub(crate) fn wrongly_listed(list: &str, name: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E1026"), span, format!("`{name}` does not belong to the {list} of ModelStructure"))
}

pub(crate) fn listed_twice(list: &str, name: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E1027"), span, format!("ModelStructure lists `{name}` twice among the {list}"))
}

pub(crate) fn not_a_derivative(name: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E1028"), span, format!("`{name}` is listed as a derivative, but it does not say of what"))
        .hint("give the variable the attribute `derivative`")
}

pub(crate) fn derivative_of_discrete(name: &str, state: &str, span: Span) -> Diagnostic {
    let message = format!("`{name}` is the derivative of `{state}`, which is not a continuous number");
    Diagnostic::new(Code("E1029"), span, message)
}

pub(crate) fn discrete_indicator(name: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E1030"), span, format!("the event indicator `{name}` is not a continuous number"))
}

pub(crate) fn kinds_without_dependencies(span: Span) -> Diagnostic {
    Diagnostic::new(Code("E1031"), span, "`dependenciesKind` stands without `dependencies`")
}

pub(crate) fn other_number_of_kinds(n_dependencies: usize, n_kinds: usize, span: Span) -> Diagnostic {
    let message = format!("there are {n_dependencies} dependencies and {n_kinds} kinds of them");
    Diagnostic::new(Code("E1032"), span, message)
}

pub(crate) fn not_a_known(name: &str, on: &str, at_start: bool, span: Span) -> Diagnostic {
    let message = format!("`{name}` is said to depend on `{on}`, which is an unknown itself");
    let diagnostic = Diagnostic::new(Code("E1033"), span, message);
    match at_start {
        true => diagnostic.hint("at the start inputs, time and variables with initial `exact` are known"),
        false => diagnostic.hint("inputs, states, parameters and time are known"),
    }
}

pub(crate) fn empty_range(name: &str, min: Number, max: Number, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E1034"), span, format!("the minimum {min} of `{name}` is larger than its maximum {max}"))
}

pub(crate) fn start_outside_of_bounds(name: &str, start: f64, min: f64, max: f64, span: Span) -> Diagnostic {
    let message = format!("the start value {start} of `{name}` is not between {min} and {max}");
    Diagnostic::new(Code("W1035"), span, message)
}

pub(crate) fn bad_nominal(name: &str, nominal: f64, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E1036"), span, format!("the nominal value {nominal} of `{name}` is not a size"))
}

pub(crate) fn no_interface(span: Span) -> Diagnostic {
    let message = "the FMU has neither model exchange nor co-simulation nor scheduled execution";
    Diagnostic::new(Code("E1037"), span, message)
}

pub(crate) fn bad_model_identifier(identifier: &str, span: Span) -> Diagnostic {
    let message = format!("the model identifier `{}` is not a C identifier", shortened(identifier));
    Diagnostic::new(Code("E1038"), span, message)
}

pub(crate) fn serializes_without_state(span: Span) -> Diagnostic {
    let message = "the FMU declares that it serialises its state, but not that it gets and sets it";
    Diagnostic::new(Code("W1039"), span, message)
}

pub(crate) fn empty_enumeration(name: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E1040"), span, format!("the enumeration `{name}` has no items"))
}

pub(crate) fn duplicate_item_value(name: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E1041"), span, format!("two items of the enumeration `{name}` have the same value"))
}

pub(crate) fn bad_dimension(name: &str, size: &str, span: Span) -> Diagnostic {
    let message = format!(
        "the size `{size}` of a dimension of `{name}` is not a structural parameter or a constant of type UInt64"
    );
    Diagnostic::new(Code("E1042"), span, message)
}

pub(crate) fn ambiguous_dimension(span: Span) -> Diagnostic {
    Diagnostic::new(Code("E1043"), span, "a dimension has either `start` or `valueReference`")
}

pub(crate) fn not_a_clock(name: &str, clock: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E1044"), span, format!("`{name}` is said to belong to the clock `{clock}`, which is not one"))
}

pub(crate) fn clock_without_interval(name: &str, span: Span) -> Diagnostic {
    Diagnostic::new(Code("E1045"), span, format!("the periodic clock `{name}` has no interval"))
        .hint("give it `intervalDecimal` or `intervalCounter`")
}

pub(crate) fn not_a_clocked_state(name: &str, span: Span) -> Diagnostic {
    let message =
        format!("`{name}` is not a clocked state: it needs a clock, a previous value and discrete variability");
    Diagnostic::new(Code("E1046"), span, message)
}

/// The file is not an archive, or its end is missing.
pub fn not_an_archive(path: &str, error: &str) -> Diagnostic {
    Diagnostic::new(Code("E1050"), Span::nowhere(), format!("`{path}` is not an FMU that can be read: {error}"))
        .hint("an FMU is a ZIP archive; a file that was cut off while copied has lost its table of contents")
}

/// An entry of the archive would be written outside of the directory that it is extracted to.
pub fn unsafe_path(path: &str, entry: &str) -> Diagnostic {
    let message = format!("`{path}` has an entry `{}` that leaves the archive's directory", shortened(entry));
    Diagnostic::new(Code("E1051"), Span::nowhere(), message)
        .hint("nothing of it was written; do not use this file: such an entry is an attack or a defect of the exporter")
}

pub fn archive_too_large(path: &str, what: &str) -> Diagnostic {
    Diagnostic::new(Code("E1052"), Span::nowhere(), format!("`{path}` is larger than Saltus reads: {what}"))
}

pub fn missing_entry(path: &str, entry: &str) -> Diagnostic {
    Diagnostic::new(Code("E1053"), Span::nowhere(), format!("`{path}` has no `{entry}`"))
}

/// An archive without anything that could run.
pub fn no_binaries(path: &str) -> Diagnostic {
    let message = format!("`{path}` has neither binaries nor sources: it runs nowhere");
    Diagnostic::new(Code("E1054"), Span::nowhere(), message)
}

fn shortened(text: &str) -> String {
    let mut short: String = text.chars().take(80).map(|c| if c.is_control() { '·' } else { c }).collect();
    if text.chars().nth(80).is_some() {
        short.push('…');
    }
    short
}
