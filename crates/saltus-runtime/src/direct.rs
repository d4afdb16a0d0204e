//! Calls of native functions without the evaluator.
//!
//! ```text
//! function value                                       callable value(object in slot 7, Integer, Real)
//!   input Table table;  input Integer column;            ⇒  native function, arguments: object, scalar 0, scalar 1
//!   input Real u;  output Real y;
//!   external "C" y = table_value(table, column, u);
//! end value;
//! ```
//!
//! In: a callable whose function passes its scalar inputs, objects and texts on to a pure native function and returns its scalar
//! result. Out: that result. Whatever goes wrong is left to the evaluator, which says why.

use saltus_base::Index as _;
use saltus_eval::native::{NativeContext, NativeFunction, find};
use saltus_eval::{Environment, Limits, Value};
use saltus_flat::{BaseType, FunctionId, Type};
use saltus_procedure::{ExternalArgument, Operand};
use saltus_program::{Argument, Callable, CallableId, SimProgram, SlotId};

pub(crate) struct DirectCalls {
    /// By callable.
    entries: Vec<Option<Direct>>,
    /// Arguments of the present call.
    arguments: Vec<Value>,
    messages: Vec<String>,
}

struct Direct {
    function: FunctionId,
    native: NativeFunction,
    arguments: Vec<Source>,
    result: BaseType,
}

/// Where an argument of the native function comes from.
enum Source {
    /// Position among the scalars of the call.
    Real(usize),
    Integer(usize),
    Boolean(usize),
    /// The slot with the handle.
    Object(SlotId),
    Text(Value),
}

impl DirectCalls {
    pub fn new(program: &SimProgram) -> Self {
        let entries = program.routines.callables.values().map(|c| Direct::new(c, program)).collect();
        DirectCalls { entries, arguments: Vec::new(), messages: Vec::new() }
    }

    /// The result; `None` if this is nothing for a direct call.
    pub fn call(
        &mut self,
        callable: CallableId,
        given: &[f64],
        memory: &[f64],
        objects: &[Value],
        env: &mut dyn Environment,
    ) -> Option<f64> {
        let direct = self.entries.get(callable.index())?.as_ref()?;
        self.arguments.clear();
        for source in &direct.arguments {
            self.arguments.push(source.value(given, memory, objects)?);
        }
        let mut context = NativeContext {
            env,
            messages: &mut self.messages,
            class: direct.function,
            elements: Limits::default().elements,
            steps: 0,
        };
        match ((direct.native)(&mut context, &mut self.arguments).ok()??, direct.result) {
            (Value::Real(x), BaseType::Real) => Some(x),
            (Value::Integer(i), BaseType::Real | BaseType::Integer) => Some(i as f64),
            (Value::Boolean(b), BaseType::Boolean) => Some(f64::from(u8::from(b))),
            _ => None,
        }
    }
}

impl Source {
    fn value(&self, given: &[f64], memory: &[f64], objects: &[Value]) -> Option<Value> {
        let scalar = |position: &usize| given.get(*position).copied();
        Some(match self {
            Source::Real(position) => Value::Real(scalar(position)?),
            Source::Integer(position) => Value::Integer(scalar(position)?.round() as i64),
            Source::Boolean(position) => Value::Boolean(scalar(position)? != 0.0),
            Source::Object(slot) => {
                let handle = memory.get(slot.index()).copied().filter(|h| *h >= 0.0)?;
                objects.get(handle as usize)?.clone()
            }
            Source::Text(text) => text.clone(),
        })
    }
}

impl Direct {
    fn new(callable: &Callable, program: &SimProgram) -> Option<Direct> {
        let function = program.routines.procedures.get(callable.function)?;
        let external = function.external().filter(|_| function.is_pure())?;
        if saltus_flat::defines_code(&external.includes) {
            return None;
        }
        let native = find(&external.name)?;
        let [result] = callable.results.as_slice() else { return None };
        let returns_it = function.outputs.as_slice() == [external.result?];
        let is_complete = callable.arguments.len() == function.inputs.len();
        if !returns_it || !is_complete || !is_number(result) {
            return None;
        }
        let mut inputs = Vec::new();
        let mut n_scalars = 0;
        for (argument, &input) in callable.arguments.iter().zip(&function.inputs) {
            let declared = &function.local(input)?.ty;
            inputs.push((input, source(argument, declared, &mut n_scalars)?));
        }
        let mut arguments = Vec::new();
        for argument in &external.arguments {
            let ExternalArgument::Input(code) = argument else { return None };
            let Operand::Local(local) = &code.value else { return None };
            let position = inputs.iter().position(|(input, _)| input == local)?;
            // An input that is passed twice is rare enough.
            arguments.push(inputs.swap_remove(position).1);
        }
        Some(Direct { function: callable.function, native, arguments, result: result.base })
    }
}

fn is_number(ty: &Type) -> bool {
    ty.dims.is_empty() && matches!(ty.base, BaseType::Real | BaseType::Integer | BaseType::Boolean)
}

fn source(argument: &Argument, declared: &Type, n_scalars: &mut usize) -> Option<Source> {
    match argument {
        Argument::Scalars(ty) => {
            if !is_number(ty) || ty.base != declared.base {
                return None;
            }
            let position = *n_scalars;
            *n_scalars += 1;
            Some(match ty.base {
                BaseType::Real => Source::Real(position),
                BaseType::Integer => Source::Integer(position),
                _ => Source::Boolean(position),
            })
        }
        Argument::Text(text) => Some(Source::Text(Value::string(text))),
        Argument::Object(slot) => Some(Source::Object(*slot)),
        Argument::Function { .. } | Argument::Template { .. } | Argument::Parts { .. } => None,
    }
}
