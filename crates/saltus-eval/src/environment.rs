//! What the evaluator asks of its surroundings, and how it says that there is no value.

use std::sync::Arc;

use saltus_base::{Diagnostic, Span};
use saltus_flat::{EnumId, EnumType, FunctionId, RecordId, RecordType, VarId};
use saltus_procedure::Procedure;

use crate::{ImpureRandom, Outside, UserTable, Value};

/// Steps between two questions whether the evaluation shall go on: about a millisecond.
pub const STEPS_BETWEEN_LOOKS: u64 = 1 << 14;

/// The model around an expression. All methods may be called any number of times.
pub trait Environment {
    /// The value of a variable of the model; the front end computes bindings on demand.
    fn variable(&mut self, id: VarId, span: Span) -> Result<Value, EvalError>;
    /// A function, lowered; an implementation does that once.
    fn procedure(&mut self, id: FunctionId) -> Result<Arc<Procedure>, EvalError>;
    fn record_type(&self, id: RecordId) -> Arc<RecordType>;
    fn enum_type(&self, id: EnumId) -> Arc<EnumType>;
    /// Contents of a file named by a path or a `modelica://` URI; the error says why not.
    fn read_file(&mut self, name: &str) -> Result<Vec<u8>, String>;
    /// A table of the C function `usertab` of the model, see [`Outside::user_table`]; only a simulation has it.
    fn user_table(&mut self, name: &str, n_variables: u32) -> Result<UserTable, String> {
        let _ = n_variables;
        Err(format!("the table `{name}` comes from the C function `usertab`, which only a simulation calls"))
    }
    /// The path that a `modelica://` or `file://` URI stands for.
    fn resolve_uri(&mut self, uri: &str) -> Option<String>;
    /// Name of the component instance being evaluated, for `getInstanceName()`.
    fn instance_name(&self) -> String;

    /// What kind of thing a path names; the error says why that is not told. By default only a file that can be read is known.
    fn file_kind(&mut self, name: &str) -> Result<FileKind, String> {
        self.read_file(name).map(|_| FileKind::RegularFile)
    }

    /// What functions with effects reach; only a simulation has it.
    fn outside(&mut self) -> Option<&mut dyn Outside> {
        None
    }

    /// Who calls functions of the user's own libraries.
    fn foreign(&mut self) -> Option<&mut dyn Outside> {
        self.outside()
    }

    /// The hidden state of the impure random numbers; only a simulation has one.
    fn impure_random(&mut self) -> Option<&mut ImpureRandom> {
        None
    }

    /// Does the user want the evaluation to end? Asked once in [`STEPS_BETWEEN_LOOKS`] steps.
    fn wants_stop(&self) -> bool {
        false
    }

    /// The absolute form of a path; the default leaves it as it is.
    fn full_path_name(&mut self, name: &str) -> String {
        name.to_string()
    }
}

/// What a path names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    NoFile,
    RegularFile,
    Directory,
    SpecialFile,
}

#[derive(Clone, PartialEq, Debug)]
pub enum EvalError {
    /// Depends on something without a value at compile time; `what` is a noun phrase such as "the variable `x`".
    NotConstant { span: Span, what: String },
    /// A real mistake: failed assert, division by zero, index out of range, too many steps.
    Failed(Box<Diagnostic>),
}

impl EvalError {
    pub fn not_constant(span: Span, what: impl Into<String>) -> EvalError {
        EvalError::NotConstant { span, what: what.into() }
    }

    /// The error as a message; `purpose` says what the value is needed for, such as "an array size".
    pub fn into_diagnostic(self, purpose: &str) -> Diagnostic {
        match self {
            EvalError::NotConstant { span, what } => crate::diagnostics::not_constant(span, &what, purpose),
            EvalError::Failed(diagnostic) => *diagnostic,
        }
    }
}

impl From<Diagnostic> for EvalError {
    fn from(diagnostic: Diagnostic) -> EvalError {
        EvalError::Failed(Box::new(diagnostic))
    }
}

pub type EvalResult<T = Value> = Result<T, EvalError>;

/// How much work one evaluation may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Expressions and statements.
    pub steps: u64,
    /// Nested calls.
    pub depth: u32,
    /// Elements of one array.
    pub elements: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { steps: 20_000_000, depth: 200, elements: 10_000_000 }
    }
}
