//! Tests of the evaluator, and a small builder of expressions and functions for them.

pub(crate) mod builder;
mod effects;
mod expressions;
mod folding;
mod functions;
mod natives;

use std::sync::Arc;

use saltus_base::{Index as _, Span};
use saltus_flat::{
    BaseType, Dim, EnumId, EnumType, Expr, ExternalArgument, Function, FunctionId, RecordField, RecordId, RecordType,
    Type, VarId,
};
use saltus_procedure::Procedure;

use crate::{Environment, EvalError, EvalResult, Evaluator, FileKind, ImpureRandom, Limits, Value};

pub(crate) fn nowhere() -> Span {
    Span::nowhere()
}

/// A model of functions, variables and files, all by position or name.
#[derive(Default)]
pub(crate) struct World {
    pub functions: Vec<Arc<Function>>,
    pub variables: Vec<Value>,
    pub files: Vec<(String, Vec<u8>)>,
    /// As during a simulation.
    pub random: Option<ImpureRandom>,
}

impl Environment for World {
    fn variable(&mut self, id: VarId, span: Span) -> EvalResult {
        self.variables.get(id.index()).cloned().ok_or_else(|| EvalError::not_constant(span, "a variable"))
    }
    fn procedure(&mut self, id: FunctionId) -> EvalResult<Arc<Procedure>> {
        let function = self.functions.get(id.index());
        let function = function.ok_or_else(|| EvalError::not_constant(nowhere(), "a function"))?;
        Ok(Arc::new(saltus_procedure::lower(function)))
    }
    /// One record type: `record R Real x; Real y[2]; end R;`
    fn record_type(&self, _: RecordId) -> Arc<RecordType> {
        Arc::new(RecordType {
            name: "R".into(),
            fields: vec![
                RecordField { name: "x".into(), ty: Type::REAL },
                RecordField { name: "y".into(), ty: Type::array(BaseType::Real, [Dim::Known(2)]) },
            ],
        })
    }
    /// One enumeration: `type E = enumeration(a, b, c);`
    fn enum_type(&self, _: EnumId) -> Arc<EnumType> {
        Arc::new(EnumType { name: "E".into(), literals: vec!["a".into(), "b".into(), "c".into()] })
    }
    fn read_file(&mut self, name: &str) -> Result<Vec<u8>, String> {
        let found = self.files.iter().find(|(n, _)| n == name);
        found.map(|(_, bytes)| bytes.clone()).ok_or_else(|| "no such file".to_string())
    }
    fn file_kind(&mut self, name: &str) -> Result<FileKind, String> {
        Ok(if self.read_file(name).is_ok() { FileKind::RegularFile } else { FileKind::NoFile })
    }
    fn resolve_uri(&mut self, uri: &str) -> Option<String> {
        uri.strip_prefix("modelica://").map(|rest| format!("/lib/{rest}"))
    }
    fn instance_name(&self) -> String {
        "M.c".into()
    }
    fn impure_random(&mut self) -> Option<&mut ImpureRandom> {
        self.random.as_mut()
    }
}

pub(crate) fn evaluate(expr: &Expr) -> EvalResult {
    Evaluator::new(&mut World::default(), Limits::default()).evaluate(expr)
}

/// Calls a native function through an external function. The arguments named by position in `outputs` are written;
/// gives the returned value (if `returns`) and those outputs.
pub(crate) fn external(
    world: &mut World,
    name: &str,
    arguments: &[Value],
    returns: bool,
    outputs: &[usize],
) -> EvalResult<Vec<Value>> {
    let mut function = builder::function(name);
    let mut call = Vec::new();
    for (i, value) in arguments.iter().enumerate() {
        let ty = Type { base: value.base_type(), dims: vec![Dim::Unknown; value.dims().len()] };
        let input = function.input(&format!("a{i}"), ty.clone());
        let argument = builder::local(input, ty.clone());
        call.push(if outputs.contains(&i) {
            let output = function.output(&format!("o{i}"), ty);
            function.set_default(output, argument);
            ExternalArgument::Output(output)
        } else {
            ExternalArgument::Input(argument)
        });
    }
    let result = returns.then(|| function.result("result"));
    let id = function.external(world, name, call, result);
    Evaluator::new(world, Limits::default()).call(id, arguments.to_vec(), nowhere())
}

/// Outputs of a native function that returns nothing.
pub(crate) fn native_with(
    world: &mut World,
    name: &str,
    arguments: &[Value],
    outputs: &[usize],
) -> EvalResult<Vec<Value>> {
    external(world, name, arguments, false, outputs)
}

/// The returned value of a native function with inputs only.
pub(crate) fn native(name: &str, arguments: &[Value]) -> EvalResult {
    native_in(&mut World::default(), name, arguments)
}

pub(crate) fn native_in(world: &mut World, name: &str, arguments: &[Value]) -> EvalResult {
    Ok(external(world, name, arguments, true, &[])?.swap_remove(0))
}
