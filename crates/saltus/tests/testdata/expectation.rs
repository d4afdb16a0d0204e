//! What a model file says about itself in its comments.
//!
//! ```text
//!   Real x = 1 + true;
//! //         ^^^^^^^^ error[E0301]: expected numbers, …      carets below the line they belong to
//! //                  hint: write …                         pins the hints of the message above it
//! // 1-3 error[E0113]: expected `end A`, …                  columns, for marks in the first two columns
//! // error[E0401]: expected as many equations as …          no claim about the place
//! // balance: 2 equations, 2 unknowns
//! // flat:                                                  up to the first line that is no `//` comment
//! // class A
//! // at t=1.5: x = 0.25 ± 1e-6 (closed form)
//! // events: 0.45152, 0.90305 (closed form)                 all that change a state or mode, to these digits
//! // class: A                                               instead of the last class of the file
//! // library: some/dir                                      below testdata/
//! ```
//!
//! A message that ends with `…` is compared up to there.

/// A message that must come, and where.
#[derive(Clone, PartialEq, Debug)]
pub struct Message {
    pub severity: String,
    pub code: String,
    pub text: String,
    pub place: Option<Place>,
    /// Empty: no claim.
    pub hints: Vec<String>,
    /// Line of the expectation itself.
    pub line: usize,
}

/// Lines and columns from 1; the end column is the last marked one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    pub line: usize,
    pub first_column: usize,
    pub last_column: usize,
}

/// A value of a trajectory.
#[derive(Clone, PartialEq, Debug)]
pub struct Sample {
    pub time: f64,
    pub variable: String,
    pub value: f64,
    pub tolerance: f64,
    pub line: usize,
}

/// The lines of a `// flat:` block; `first..end` are the line numbers (from 0) behind `// flat:`.
#[derive(Clone, PartialEq, Debug)]
pub struct Flat {
    pub text: String,
    pub first: usize,
    pub end: usize,
}

#[derive(Clone, PartialEq, Default, Debug)]
pub struct Expectation {
    pub class: Option<String>,
    pub libraries: Vec<String>,
    pub messages: Vec<Message>,
    pub balance: Option<(u64, u64)>,
    pub flat: Option<Flat>,
    pub samples: Vec<Sample>,
    /// As written, for their number of digits.
    pub events: Option<Vec<String>>,
}

impl Expectation {
    pub fn is_empty(&self) -> bool {
        let nothing =
            Expectation { class: self.class.clone(), libraries: self.libraries.clone(), ..Default::default() };
        *self == nothing
    }

    pub fn parse(text: &str) -> Result<Expectation, String> {
        let lines: Vec<&str> = text.lines().collect();
        let mut found = Expectation::default();
        let mut code_line = 0;
        let mut at = 0;
        while at < lines.len() {
            let line = lines[at];
            at += 1;
            let Some(comment) = line.trim_start().strip_prefix("//") else {
                code_line = at;
                continue;
            };
            let comment = comment.trim();
            let wrong = |what: &str| format!("line {at}: {what}");
            if let Some(message) = message(line, code_line, at)? {
                found.messages.push(message);
            } else if let Some(rest) = comment.strip_prefix("hint: ") {
                let message = found.messages.last_mut().ok_or_else(|| wrong("a hint without a message"))?;
                message.hints.push(rest.to_string());
            } else if let Some(rest) = comment.strip_prefix("balance:") {
                found.balance = Some(balance(rest).ok_or_else(|| wrong("expected `n equations, n unknowns`"))?);
            } else if let Some(rest) = comment.strip_prefix("at t=") {
                found.samples.push(sample(rest, at).ok_or_else(|| wrong("expected `at t=T: x = V ± D (source)`"))?);
            } else if let Some(rest) = comment.strip_prefix("events:") {
                found.events = Some(events(rest).ok_or_else(|| wrong("expected `events: T, T (source)`"))?);
            } else if let Some(rest) = comment.strip_prefix("class:") {
                found.class = Some(rest.trim().to_string());
            } else if let Some(rest) = comment.strip_prefix("library:") {
                found.libraries.push(rest.trim().to_string());
            } else if comment == "flat:" {
                let flat = flat_block(&lines, at);
                at = flat.end;
                found.flat = Some(flat);
            }
        }
        Ok(found)
    }
}

fn flat_block(lines: &[&str], first: usize) -> Flat {
    let body = lines[first..].iter().map_while(|l| l.strip_prefix("//"));
    let body: Vec<&str> = body.map(|l| l.strip_prefix(' ').unwrap_or(l)).collect();
    Flat { text: body.join("\n"), first, end: first + body.len() }
}

/// The text with its `// flat:` block replaced.
pub fn with_flat(text: &str, flat: &Flat, actual: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut out: Vec<String> = lines[..flat.first].iter().map(|l| l.to_string()).collect();
    out.extend(actual.lines().map(|l| format!("// {l}").trim_end().to_string()));
    out.extend(lines[flat.end..].iter().map(|l| l.to_string()));
    out.join("\n") + "\n"
}

/// `[^^^ | a-b] severity[CODE]: text`
fn message(line: &str, code_line: usize, at: usize) -> Result<Option<Message>, String> {
    let Some(open) = line.find('[') else { return Ok(None) };
    let head = line[..open].trim_start();
    let Some(words) = head.strip_prefix("//") else { return Ok(None) };
    let Some(severity) = ["error", "warning", "hint"].into_iter().find(|s| words.ends_with(s)) else { return Ok(None) };
    let Some((code, text)) = line[open + 1..].split_once("]: ") else { return Ok(None) };
    let position = words[..words.len() - severity.len()].trim();
    let place = if position.is_empty() {
        None
    } else if position.chars().all(|c| c == '^') {
        let first_column = line.chars().take_while(|&c| c != '^').count() + 1;
        Some(Place { line: code_line, first_column, last_column: first_column + position.len() - 1 })
    } else {
        let columns = position.split_once('-').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        let (first_column, last_column) = columns.ok_or_else(|| format!("line {at}: expected carets or `a-b`"))?;
        Some(Place { line: code_line, first_column, last_column })
    };
    let (severity, code, text) = (severity.to_string(), code.to_string(), text.to_string());
    Ok(Some(Message { severity, code, text, place, hints: Vec::new(), line: at }))
}

fn balance(text: &str) -> Option<(u64, u64)> {
    let (equations, unknowns) = text.split_once(',')?;
    let count = |part: &str, unit: &str| part.trim().strip_suffix(unit)?.trim().parse().ok();
    Some((count(equations, "equations")?, count(unknowns, "unknowns")?))
}

/// `1.5: x = 0.25 ± 1e-6 (closed form)`; the source in parentheses is required.
fn sample(text: &str, line: usize) -> Option<Sample> {
    let (time, rest) = text.split_once(':')?;
    let (variable, rest) = rest.split_once(" = ")?;
    let (value, rest) = rest.split_once('±')?;
    let (tolerance, source) = rest.split_once('(')?;
    let is_named = source.trim_end().strip_suffix(')').is_some_and(|s| !s.trim().is_empty());
    let number = |s: &str| s.trim().parse::<f64>().ok();
    let (time, value, tolerance) = (number(time)?, number(value)?, number(tolerance)?);
    is_named.then(|| Sample { time, variable: variable.trim().to_string(), value, tolerance, line })
}

/// `0.45152, 0.90305 (closed form)`; the source in parentheses is required.
fn events(text: &str) -> Option<Vec<String>> {
    let (times, source) = text.split_once('(')?;
    let times: Vec<String> = times.split(',').map(|t| t.trim().to_string()).collect();
    let are_numbers = times.iter().all(|t| t.parse::<f64>().is_ok());
    (are_numbers && source.trim_end().ends_with(')')).then_some(times)
}

#[test]
fn expectations_are_read_from_comments() {
    let text = "\
model A
  Real x = 1 + true;
//         ^^^^^^^^ error[E0301]: expected numbers
//                  hint: remove it
end B;
// 5-5 error[E0113]: expected …
// balance: 1 equations, 2 unknowns
// at t=1.5: x = 0.25 ± 1e-6 (closed form)
// flat:
// class A
//   Real x;
// end A;
";
    let found = Expectation::parse(text).unwrap();
    assert_eq!(found.messages[0].place, Some(Place { line: 2, first_column: 12, last_column: 19 }));
    assert_eq!(found.messages[0].hints, ["remove it"]);
    assert_eq!(found.messages[1].place, Some(Place { line: 5, first_column: 5, last_column: 5 }));
    assert_eq!(found.balance, Some((1, 2)));
    assert_eq!((found.samples[0].time, found.samples[0].value), (1.5, 0.25));
    let flat = found.flat.unwrap();
    assert_eq!(flat.text, "class A\n  Real x;\nend A;");
    assert_eq!(with_flat(text, &flat, "class A\n  Real y;\nend A;\n"), text.replace("//   Real x;", "//   Real y;"));
    assert!(Expectation::parse("// at t=1: x = 2 ± 1").is_err(), "a number without a source");
}
