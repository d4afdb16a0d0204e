//! Names of an FMU as identifiers of Modelica.

use std::collections::HashSet;

const KEYWORDS: &[&str] = &[
    "algorithm",
    "and",
    "annotation",
    "block",
    "break",
    "class",
    "connect",
    "connector",
    "constant",
    "constrainedby",
    "der",
    "discrete",
    "each",
    "else",
    "elseif",
    "elsewhen",
    "encapsulated",
    "end",
    "enumeration",
    "equation",
    "expandable",
    "extends",
    "external",
    "false",
    "final",
    "flow",
    "for",
    "function",
    "if",
    "import",
    "impure",
    "in",
    "initial",
    "inner",
    "input",
    "loop",
    "model",
    "not",
    "operator",
    "or",
    "outer",
    "output",
    "package",
    "parameter",
    "partial",
    "protected",
    "public",
    "pure",
    "record",
    "redeclare",
    "replaceable",
    "return",
    "stream",
    "then",
    "true",
    "type",
    "when",
    "while",
    "within",
    "time",
];

fn is_plain(name: &str) -> bool {
    let is_word = |b: u8| b == b'_' || b.is_ascii_alphanumeric();
    !name.is_empty() && name.bytes().all(is_word) && !name.as_bytes()[0].is_ascii_digit() && !KEYWORDS.contains(&name)
}

/// The name itself where it is an identifier, else in single quotes.
pub fn identifier(name: &str) -> String {
    if is_plain(name) {
        return name.to_owned();
    }
    let mut quoted = String::from("'");
    for c in name.chars() {
        match c {
            '\'' | '\\' => quoted.extend(['\\', c]),
            ' '..='~' => quoted.push(c),
            // The language has ASCII in quoted identifiers only.
            c => quoted.push_str(&format!("_u{:04X}_", c as u32)),
        }
    }
    quoted.push('\'');
    quoted
}

/// The name of a class.
pub fn class_name(name: &str) -> String {
    let mut word: String = name.chars().map(|c| if c == '_' || c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if !is_plain(&word) {
        word.insert_str(0, "Unit");
    }
    word
}

/// Texts of Modelica.
pub fn string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => quoted.push(' '),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Names for what the wrapper adds, none of which the FMU has.
pub struct Own<'a> {
    taken: HashSet<&'a str>,
}

impl<'a> Own<'a> {
    pub fn new(taken: impl Iterator<Item = &'a str>) -> Self {
        Own { taken: taken.collect() }
    }

    pub fn name(&self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        while self.taken.contains(name.as_str()) {
            name.push('_');
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_an_identifier_is_quoted() {
        assert_eq!(identifier("h"), "h");
        assert_eq!(identifier("der(h)"), "'der(h)'");
        assert_eq!(identifier("a.b[1]"), "'a.b[1]'");
        assert_eq!(identifier("it's"), r"'it\'s'");
        assert_eq!(identifier("model"), "'model'");
        assert_eq!(identifier("µ"), "'_u00B5_'");
        assert_eq!(class_name("Motor.Drive 1"), "Motor_Drive_1");
        assert_eq!(class_name("2x"), "Unit2x");
        assert_eq!(Own::new(["fmu", "fmu_"].into_iter()).name("fmu"), "fmu__");
    }
}
