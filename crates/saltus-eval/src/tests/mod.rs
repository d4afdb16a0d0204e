//! Tests of the evaluator, and a small builder of expressions and functions for them.

mod natives;

use std::rc::Rc;

use saltus_base::{IdVec, Index as _, Span};
use saltus_flat::{
    BaseType, Builtin, EnumId, EnumType, Expr, ExprKind, External, ExternalArgument, Function, FunctionId, Local,
    LocalId, Purity, RecordField, RecordId, RecordType, Type, VarId,
};

use crate::{Environment, EvalError, EvalResult, Evaluator, Limits, Value};

pub(crate) fn nowhere() -> Span {
    Span::nowhere()
}

/// A model of functions, variables and files, all by position or name.
#[derive(Default)]
pub(crate) struct World {
    pub functions: Vec<Rc<Function>>,
    pub variables: Vec<Value>,
    pub files: Vec<(String, Vec<u8>)>,
}

impl Environment for World {
    fn variable(&mut self, id: VarId, span: Span) -> EvalResult {
        self.variables.get(id.index()).cloned().ok_or_else(|| EvalError::not_constant(span, "a variable"))
    }
    fn function(&mut self, id: FunctionId) -> EvalResult<Rc<Function>> {
        self.functions.get(id.index()).cloned().ok_or_else(|| EvalError::not_constant(nowhere(), "a function"))
    }
    /// One record type: `record R Real x; Real y[2]; end R;`
    fn record_type(&self, _: RecordId) -> Rc<RecordType> {
        Rc::new(RecordType {
            name: "R".into(),
            fields: vec![
                RecordField { name: "x".into(), ty: Type::REAL },
                RecordField { name: "y".into(), ty: Type::array(BaseType::Real, [saltus_flat::Dim::Known(2)]) },
            ],
        })
    }
    /// One enumeration: `type E = enumeration(a, b, c);`
    fn enum_type(&self, _: EnumId) -> Rc<EnumType> {
        Rc::new(EnumType { name: "E".into(), literals: vec!["a".into(), "b".into(), "c".into()] })
    }
    fn read_file(&mut self, name: &str) -> Result<Vec<u8>, String> {
        let found = self.files.iter().find(|(n, _)| n == name);
        found.map(|(_, bytes)| bytes.clone()).ok_or_else(|| "no such file".to_string())
    }
    fn resolve_uri(&mut self, uri: &str) -> Option<String> {
        uri.strip_prefix("modelica://").map(|rest| format!("/lib/{rest}"))
    }
    fn instance_name(&self) -> String {
        "M.c".into()
    }
}

pub(crate) fn evaluate(expr: &Expr) -> EvalResult {
    Evaluator::new(&mut World::default(), Limits::default()).evaluate(expr)
}

/// Calls a native function through an external function whose arguments are all inputs but the outputs named by
/// position; gives result and outputs.
pub(crate) fn native_with(
    world: &mut World,
    name: &str,
    arguments: &[Value],
    outputs: &[usize],
) -> EvalResult<Vec<Value>> {
    let mut locals: IdVec<LocalId, Local> = IdVec::new();
    let local =
        |name: String, ty: Type| Local { name, sizes: vec![None; ty.rank()], ty, default: None, span: nowhere() };
    let mut external = Vec::new();
    let (mut inputs, mut results, mut given) = (Vec::new(), Vec::new(), Vec::new());
    for (i, value) in arguments.iter().enumerate() {
        let dims = vec![saltus_flat::Dim::Unknown; value.dims().len()];
        let ty = Type { base: value.base_type(), dims };
        let id = locals.push(local(format!("a{i}"), ty.clone()));
        inputs.push(id);
        given.push(value.clone());
        if outputs.contains(&i) {
            let mut out = local(format!("o{i}"), ty.clone());
            out.default = Some(Expr::new(ExprKind::Local(id), ty, nowhere()));
            let out = locals.push(out);
            results.push(out);
            external.push(ExternalArgument::Output(out));
        } else {
            external.push(ExternalArgument::Input(Expr::new(ExprKind::Local(id), ty, nowhere())));
        }
    }
    let result = locals.push(local("result".into(), Type::ERROR));
    results.insert(0, result);
    let function = Function {
        name: name.into(),
        locals,
        inputs,
        outputs: results,
        body: Vec::new(),
        external: Some(External {
            language: "C".into(),
            name: name.into(),
            arguments: external,
            result: Some(result),
            libraries: Vec::new(),
        }),
        purity: Purity::Pure,
        is_record_constructor: false,
        derivatives: Vec::new(),
        inverses: Vec::new(),
        inline: false,
        late_inline: false,
        inline_after_index_reduction: false,
        smooth_order: None,
        generate_events: false,
        span: nowhere(),
    };
    world.functions.push(Rc::new(function));
    let id = FunctionId::from_usize(world.functions.len() - 1);
    Evaluator::new(world, Limits::default()).call(id, given, nowhere())
}

/// The returned value of a native function with inputs only.
pub(crate) fn native(name: &str, arguments: &[Value]) -> EvalResult {
    Ok(native_with(&mut World::default(), name, arguments, &[])?.swap_remove(0))
}

#[test]
fn literals_have_their_value() {
    let sum = Expr::builtin(Builtin::Sin, vec![Expr::real(0.0, nowhere())], Type::REAL, nowhere());
    assert_eq!(evaluate(&sum), Ok(Value::Real(0.0)));
}
