//! The wording of what this crate says: family E106x, FMUs that run.

use saltus_base::{Code, Diagnostic, Span};

use crate::error::HostError;
use crate::log::{LogLine, Status};

/// An FMU that cannot be run, or that failed while it ran.
pub fn failed(error: &HostError) -> Diagnostic {
    let diagnostic = Diagnostic::new(Code("E1060"), Span::nowhere(), words(error));
    match error {
        HostError::NoBinary { .. } => diagnostic.hint("export the FMU for this platform, or run it where it was made"),
        HostError::NotInstantiated { .. } => diagnostic.hint(
            "a description that does not belong to its binary is refused: the token (GUID) of both must be the same",
        ),
        _ => diagnostic,
    }
}

/// A value changes with a known that the model structure does not list.
pub fn undeclared_dependency(unknown: &str, known: &str, span: Span) -> Diagnostic {
    let message = format!("`{unknown}` changes with `{known}`, which its dependencies in ModelStructure do not name");
    Diagnostic::new(Code("E1061"), span, message).hint(
        "whoever sorts equations by these dependencies gets wrong results; leave the attribute out or complete it",
    )
}

/// A derivative that is a state itself, and does not say so.
pub fn undeclared_state(derivative: &str, state: &str, span: Span) -> Diagnostic {
    let message = format!(
        "`{derivative}` is the derivative of `{state}` and a state, which its dependencies in ModelStructure do not name"
    );
    Diagnostic::new(Code("E1061"), span, message)
        .hint(format!("the row of `{state}` in the Jacobian looks empty; name `{derivative}` among the dependencies"))
}

/// There is more to move than is worth it.
pub fn partly_probed(n_moved: usize, n_all: usize) -> Diagnostic {
    let message =
        format!("dependencies on {n_moved} of {n_all} knowns were looked at; the FMU is too large for the others");
    Diagnostic::new(Code("W1062"), Span::nowhere(), message)
}

pub(crate) fn words(error: &HostError) -> String {
    match error {
        HostError::NoBinary { unit, platform, present } => {
            let others = match present.is_empty() {
                true => "it has no binaries at all".to_owned(),
                false => format!("it has one for {}", present.join(", ")),
            };
            format!("the FMU `{unit}` has no binary for {platform}: {others}")
        }
        HostError::Load { unit, reason } => format!("the binary of the FMU `{unit}` cannot be loaded: {reason}"),
        HostError::MissingFunction { instance, function } => {
            format!("the FMU of `{instance}` lacks the function {function}")
        }
        HostError::NoInterface { unit, wanted } => format!("the FMU `{unit}` has no {wanted}"),
        HostError::NotInstantiated { instance, log } => {
            format!("the FMU of `{instance}` cannot be instantiated{}", lines(log))
        }
        HostError::Failed { instance, function, status, log } => {
            let how = match status {
                Status::Discard => "rejected this point",
                Status::Fatal => "failed for good",
                _ => "failed",
            };
            format!("the FMU of `{instance}`: {function} {how}{}", lines(log))
        }
        HostError::NotANumber { instance, what, log } => {
            format!("the FMU of `{instance}`: {what} is not a number{}", lines(log))
        }
        HostError::EndlessEvent { instance, rounds } => {
            format!("the FMU of `{instance}` still wants another round of its event after {rounds} rounds")
        }
        HostError::NoProgress { instance, time, log } => {
            format!("the FMU of `{instance}` does not get beyond time {time}{}", lines(log))
        }
        HostError::Refused { instance, reason } => format!("the FMU of `{instance}`: {reason}"),
    }
}

/// The last lines of the log, behind the message.
fn lines(log: &[LogLine]) -> String {
    log.iter().rev().take(5).rev().map(|line| format!("; it says: {}", line.message)).collect()
}
