//! Values of parameters in a file: `--set-file FILE`.
//!
//! ```text
//! // The motor of the second test bench.
//! motor.R = 0.43
//! motor.useHeat = true   // as measured
//! ```
//!
//! A line is what `--set` takes: a name, `=`, a Modelica expression. Empty lines and comments are passed over.

use std::fmt;

/// A line that is not `name = value`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SetFileError {
    /// From 1.
    pub line: usize,
    pub problem: Problem,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Problem {
    /// There is no `=`.
    NoAssignment(String),
    NoName,
    NoValue(String),
    /// The name has a value already, in the line of this number.
    Twice {
        name: String,
        first: usize,
    },
}

impl fmt::Display for SetFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match &self.problem {
            Problem::NoAssignment(text) => write!(f, "expected `name = value`, found `{text}`"),
            Problem::NoName => write!(f, "expected a name before `=`, found none"),
            Problem::NoValue(name) => write!(f, "expected a value for `{name}`, found none"),
            Problem::Twice { name, first } => write!(f, "`{name}` has a value already in line {first}"),
        }
    }
}

impl std::error::Error for SetFileError {}

/// Names and values in the order of the file, as `--set` gives them; or all lines that are wrong.
pub fn parse_set_file(text: &str) -> Result<Vec<(String, String)>, Vec<SetFileError>> {
    let mut pairs: Vec<(usize, String, String)> = Vec::new();
    let mut errors = Vec::new();
    for (i, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = without_comment(line).trim();
        if line.is_empty() {
            continue;
        }
        match parse_line(line, &pairs) {
            Ok((name, value)) => pairs.push((i + 1, name, value)),
            Err(problem) => errors.push(SetFileError { line: i + 1, problem }),
        }
    }
    if errors.is_empty() { Ok(pairs.into_iter().map(|(_, name, value)| (name, value)).collect()) } else { Err(errors) }
}

fn parse_line(line: &str, before: &[(usize, String, String)]) -> Result<(String, String), Problem> {
    let (name, value) = assignment(line).ok_or_else(|| Problem::NoAssignment(line.chars().take(60).collect()))?;
    // A semicolon at the end is a habit from models.
    let value = value.trim().trim_end_matches(';').trim_end();
    match (name.trim(), value) {
        ("", _) => Err(Problem::NoName),
        (name, "") => Err(Problem::NoValue(name.to_owned())),
        (name, value) => match before.iter().find(|(_, n, _)| n == name) {
            Some((first, ..)) => Err(Problem::Twice { name: name.to_owned(), first: *first }),
            None => Ok((name.to_owned(), value.to_owned())),
        },
    }
}

/// Both sides of the first `=` that is not part of a quoted name.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let at = outside_quotes(line).find(|&(i, _)| line[i..].starts_with('='))?.0;
    Some((&line[..at], &line[at + 1..]))
}

fn without_comment(line: &str) -> &str {
    let at = outside_quotes(line).find(|&(i, _)| line[i..].starts_with("//"));
    at.map_or(line, |(i, _)| &line[..i])
}

/// Characters with their places that are neither in a string nor in a quoted name.
fn outside_quotes(line: &str) -> impl Iterator<Item = (usize, char)> {
    let mut quote = None;
    let mut is_escaped = false;
    line.char_indices().filter(move |&(_, c)| {
        let was_escaped = std::mem::take(&mut is_escaped);
        match quote {
            Some(_) if was_escaped => false,
            Some(_) if c == '\\' => {
                is_escaped = true;
                false
            }
            Some(open) => {
                if c == open {
                    quote = None;
                }
                false
            }
            None => {
                if matches!(c, '"' | '\'') {
                    quote = Some(c);
                }
                quote.is_none()
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_names_and_expressions() {
        let text = "// bench 2\nmotor.R = 0.43\n\n  k[2]=2*3;  // twice\nfile = \"a//b = c\"\n'odd = name' = {1, 2}\n";
        let expected = [("motor.R", "0.43"), ("k[2]", "2*3"), ("file", "\"a//b = c\""), ("'odd = name'", "{1, 2}")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(parse_set_file(text), Ok(expected.to_vec()));
        assert_eq!(parse_set_file("b = x == 1"), Ok(vec![("b".to_owned(), "x == 1".to_owned())]));
    }

    #[test]
    fn all_wrong_lines_are_named() {
        let errors = parse_set_file("a = 1\nb\n= 2\nc =  // later\na = 3\n").unwrap_err();
        let messages: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(
            messages,
            [
                "line 2: expected `name = value`, found `b`",
                "line 3: expected a name before `=`, found none",
                "line 4: expected a value for `c`, found none",
                "line 5: `a` has a value already in line 1",
            ]
        );
    }
}
