//! Calls of functions (specification chapter 12): binding inputs, initialising outputs and protected variables,
//! running the body or the native implementation of an external function, collecting outputs.

use std::sync::Arc;

use saltus_base::{Index as _, Span};
use saltus_flat::{BaseType, Expr, External, ExternalArgument, Function, FunctionId, Local, LocalId, Type};

use crate::array::Items;
use crate::evaluator::{Evaluator, Frame, Slot};
use crate::native::{self, NativeContext, NativeError, NativeResult};
use crate::value::type_name;
use crate::{EvalError, EvalResult, ForeignCall, Value, diagnostics};

/// Records inside records deeper than this have no default value.
const MOST_RECORD_LEVELS: u32 = 50;

impl Evaluator<'_> {
    pub(crate) fn eval_arguments(&mut self, arguments: &[Expr]) -> EvalResult<Vec<Value>> {
        arguments.iter().map(|a| self.eval(a)).collect()
    }

    pub(crate) fn eval_call(&mut self, function: FunctionId, arguments: &[Expr], span: Span) -> EvalResult {
        let arguments = self.eval_arguments(arguments)?;
        first(self.call_function(function, arguments, span)?, span)
    }

    pub(crate) fn eval_call_local(&mut self, function: LocalId, arguments: &[Expr], span: Span) -> EvalResult {
        let arguments = self.eval_arguments(arguments)?;
        first(self.call_local(function, arguments, span)?, span)
    }

    /// Calls the function that a local holds; bound inputs and given arguments are put together by position.
    pub(crate) fn call_local(&mut self, local: LocalId, arguments: Vec<Value>, span: Span) -> EvalResult<Vec<Value>> {
        let value = match self.frame.get(local) {
            Some(value) => value.clone(),
            None => return Err(EvalError::not_constant(span, "a function argument")),
        };
        let Value::Function(target) = value else {
            return Err(diagnostics::kind_mismatch(span, "a function", type_name(value.base_type())).into());
        };
        if target.bound.is_empty() {
            return self.call_function(target.function, arguments, span);
        }
        let n_inputs = self.env.function(target.function)?.inputs.len();
        let mut given = arguments.into_iter();
        let mut all = Vec::with_capacity(n_inputs);
        for position in 0..n_inputs {
            let bound = target.bound.iter().find(|(p, _)| *p as usize == position).map(|(_, v)| v.clone());
            match bound.or_else(|| given.next()) {
                Some(value) => all.push(value),
                None => break,
            }
        }
        self.call_function(target.function, all, span)
    }

    pub(crate) fn call_function(
        &mut self,
        id: FunctionId,
        arguments: Vec<Value>,
        span: Span,
    ) -> EvalResult<Vec<Value>> {
        let function = self.env.function(id)?;
        self.step(span)?;
        if self.calls.len() >= self.limits.depth as usize {
            return Err(diagnostics::calls_too_deep(self.outermost(span), self.limits.depth, &function.name).into());
        }
        if arguments.len() > function.inputs.len() {
            return Err(diagnostics::wrong_arguments(span, &function.name, arguments.len()).into());
        }
        let mut frame = Frame { slots: vec![Slot::Unset; function.locals.len()] };
        for (&input, value) in function.inputs.iter().zip(arguments) {
            let base = function.locals.get(input).map_or(BaseType::Error, |l| l.ty.base);
            frame.set(input, value.converted(base));
        }
        let caller = std::mem::replace(&mut self.frame, frame);
        self.calls.push((function.clone(), span));
        let result = self.run_function(id, &function, span);
        self.calls.pop();
        self.frame = caller;
        result
    }

    fn run_function(&mut self, id: FunctionId, function: &Arc<Function>, span: Span) -> EvalResult<Vec<Value>> {
        for &input in &function.inputs {
            if self.frame.get(input).is_none() {
                self.initialise_local(input, span)?;
            }
            self.check_input_size(function, input, span)?;
        }
        if function.is_record_constructor {
            return self.construct_record(function, span);
        }
        for (local, declaration) in function.locals.iter() {
            if self.frame.get(local).is_none() && has_default(declaration) {
                self.initialise_local(local, span)?;
            }
        }
        match &function.external {
            Some(external) => self.run_external(id, function, external, span)?,
            None => {
                self.run(&function.body)?;
            }
        }
        function
            .outputs
            .iter()
            .map(|&output| match self.frame.save(output) {
                Slot::Set(value) => Ok(value),
                _ => Err(diagnostics::unknown_local(span).into()),
            })
            .collect()
    }

    /// Inputs declared with a size, as `input Real y[size(x, 1)]`, must have it.
    fn check_input_size(&mut self, function: &Arc<Function>, input: LocalId, span: Span) -> EvalResult<()> {
        let Some(local) = function.locals.get(input) else { return Ok(()) };
        for (d, size) in local.sizes.iter().enumerate() {
            let Some(size) = size else { continue };
            let expected = self.eval_integer(size)?;
            let found = self.frame.get(input).and_then(|v| v.dims().get(d).copied());
            if let Some(found) = found
                && found as i64 != expected
            {
                return Err(diagnostics::size_expected(span, &local.name, d, expected, found).into());
            }
        }
        Ok(())
    }

    fn construct_record(&mut self, function: &Arc<Function>, span: Span) -> EvalResult<Vec<Value>> {
        let base = function.outputs.first().and_then(|&o| function.locals.get(o)).map(|l| l.ty.base);
        let Some(BaseType::Record(id)) = base else {
            return Err(diagnostics::wrong_arguments(span, &function.name, function.inputs.len()).into());
        };
        let fields = function
            .inputs
            .iter()
            .map(|&input| match self.frame.save(input) {
                Slot::Set(value) => Ok(value),
                _ => Err(diagnostics::unknown_local(span).into()),
            })
            .collect::<EvalResult<Vec<_>>>()?;
        Ok(vec![Value::record(id, fields)])
    }

    /// Gives a local its declared value, or the default of its type. Declarations may refer to each other in any
    /// order, so this also happens on demand.
    pub(crate) fn initialise_local(&mut self, id: LocalId, span: Span) -> EvalResult {
        let Some((function, _)) = self.calls.last() else {
            return Err(EvalError::not_constant(span, "an iteration variable"));
        };
        let function = function.clone();
        let Some(local) = function.locals.get(id) else {
            return Err(diagnostics::unknown_local(span).into());
        };
        match self.frame.slots.get_mut(id.index()) {
            Some(slot @ Slot::Unset) => *slot = Slot::Pending,
            Some(Slot::Set(value)) => return Ok(value.clone()),
            _ => return Err(diagnostics::cyclic_local(local.span, &local.name).into()),
        }
        let value = match &local.default {
            Some(default) => self.eval(default)?.converted(local.ty.base),
            None if function.inputs.contains(&id) => {
                return Err(EvalError::not_constant(
                    span,
                    format!("the input `{}` of `{}`", local.name, function.name),
                ));
            }
            None => self.default_value(local)?,
        };
        self.frame.set(id, value.clone());
        Ok(value)
    }

    fn default_value(&mut self, local: &Local) -> EvalResult {
        let mut dims = Vec::with_capacity(local.ty.rank());
        for (d, dim) in local.ty.dims.iter().enumerate() {
            let size = match (dim.known(), local.sizes.get(d)) {
                (Some(n), _) => usize::try_from(n).unwrap_or(usize::MAX),
                (None, Some(Some(size))) => self.eval_size(size)?,
                (None, _) => 0,
            };
            dims.push(size);
        }
        let n = self.check_elements(&dims, local.span)?;
        let scalar = self.default_scalar(local.ty.base, local.span, 0)?;
        match scalar {
            Some(scalar) if dims.is_empty() => Ok(scalar),
            Some(scalar) => self.assemble(dims, Items::repeat(&scalar, n), local.span),
            None => Err(EvalError::not_constant(local.span, format!("`{}`, which is not assigned yet,", local.name))),
        }
    }

    fn default_scalar(&mut self, base: BaseType, span: Span, level: u32) -> EvalResult<Option<Value>> {
        let BaseType::Record(id) = base else { return Ok(Value::default_scalar(base)) };
        if level > MOST_RECORD_LEVELS {
            return Err(diagnostics::nested_too_deeply(span, MOST_RECORD_LEVELS).into());
        }
        let record = self.env.record_type(id);
        let mut fields = Vec::with_capacity(record.fields.len());
        for field in &record.fields {
            match self.default_field(&field.ty, span, level)? {
                Some(value) => fields.push(value),
                None => return Ok(None),
            }
        }
        Ok(Some(Value::record(id, fields)))
    }

    fn default_field(&mut self, ty: &Type, span: Span, level: u32) -> EvalResult<Option<Value>> {
        let Some(scalar) = self.default_scalar(ty.base, span, level + 1)? else { return Ok(None) };
        if ty.dims.is_empty() {
            return Ok(Some(scalar));
        }
        let dims: Vec<usize> =
            ty.dims.iter().map(|d| d.known().map_or(0, |n| usize::try_from(n).unwrap_or(usize::MAX))).collect();
        let n = self.check_elements(&dims, span)?;
        self.assemble(dims, Items::repeat(&scalar, n), span).map(Some)
    }

    /// The native implementation works on the arguments in place, as the C or FORTRAN function does.
    fn run_external(
        &mut self,
        id: FunctionId,
        function: &Arc<Function>,
        external: &External,
        span: Span,
    ) -> EvalResult<()> {
        let unknown = || EvalError::not_constant(span, format!("the external function `{}`", external.name));
        let native = native::find(&external.name);
        if native.is_none() && self.env.foreign().is_none() {
            return Err(unknown());
        }
        let mut arguments = Vec::with_capacity(external.arguments.len());
        for argument in &external.arguments {
            arguments.push(match argument {
                ExternalArgument::Input(e) => self.eval(e)?,
                ExternalArgument::Output(local) => match self.frame.get(*local) {
                    Some(value) => value.clone(),
                    None => self.initialise_local(*local, span)?,
                },
            });
        }
        // From here on the arguments are the only holders, so that writing into them copies nothing.
        for argument in &external.arguments {
            if let ExternalArgument::Output(local) = argument {
                self.frame.save(*local);
            }
        }
        let n_elements: usize = arguments.iter().map(Value::n_elements).sum();
        let mut context = NativeContext {
            env: &mut *self.env,
            messages: &mut self.messages,
            class: id,
            elements: self.limits.elements,
            steps: 20 + n_elements as u64,
        };
        let result = match native {
            Some(native) => native(&mut context, &mut arguments),
            None => call_foreign(&mut context, function, external, &mut arguments),
        };
        self.steps = self.steps.saturating_add(context.steps);
        let result = result.map_err(|error| match error {
            NativeError::NotConstant => unknown(),
            NativeError::Failed(reason) => diagnostics::external_failed(span, &external.name, &reason).into(),
        })?;
        for (argument, value) in external.arguments.iter().zip(arguments) {
            if let ExternalArgument::Output(local) = argument {
                self.store_result(function, *local, value);
            }
        }
        if let (Some(local), Some(value)) = (external.result, result) {
            self.store_result(function, local, value);
        }
        Ok(())
    }

    fn store_result(&mut self, function: &Function, local: LocalId, value: Value) {
        let base = function.locals.get(local).map_or(BaseType::Error, |l| l.ty.base);
        self.frame.set(local, value.converted(base));
    }
}

/// A function of the user's own libraries.
fn call_foreign(
    context: &mut NativeContext,
    function: &Function,
    external: &External,
    arguments: &mut [Value],
) -> NativeResult {
    let result = external.result.and_then(|local| function.locals.get(local)).map(|local| &local.ty);
    if result.is_some_and(|ty| !ty.dims.is_empty() || matches!(ty.base, BaseType::Record(_))) {
        return Err("an array or a record can be an argument that the function writes, but not its result".into());
    }
    let is_output: Vec<bool> = external.arguments.iter().map(|a| matches!(a, ExternalArgument::Output(_))).collect();
    let call = ForeignCall {
        function: &function.name,
        name: &external.name,
        language: &external.language,
        libraries: &external.libraries,
        directories: &external.directories,
        is_output: &is_output,
        result: result.map(|ty| ty.base),
    };
    let foreign = context.env.foreign().ok_or(NativeError::NotConstant)?;
    Ok(foreign.call(&call, arguments)?)
}

/// Functions and external objects have nothing to start with.
fn has_default(local: &Local) -> bool {
    let base = local.ty.base;
    local.default.is_some() || matches!(base, BaseType::Record(_)) || Value::default_scalar(base).is_some()
}

fn first(results: Vec<Value>, span: Span) -> EvalResult {
    match results.into_iter().next() {
        Some(value) => Ok(value),
        None => Err(EvalError::not_constant(span, "a call without result")),
    }
}
