//! Calls of functions (specification chapter 12): binding inputs, initialising outputs and protected variables,
//! running the body or the native implementation of an external function, collecting outputs.

use saltus_base::Span;
use saltus_flat::{BaseType, FunctionId, RecordId, Type};
use saltus_procedure::{Body, External, ExternalArgument, Local, Procedure, Register};

use crate::array::Items;
use crate::evaluator::{Evaluator, Frame, integer_of};
use crate::native::{self, NativeContext, NativeError, NativeResult};
use crate::sizes::code_names_number;
use crate::value::type_name;
use crate::{Environment, EvalError, EvalResult, ForeignCall, Value, diagnostics};

/// Records inside records deeper than this have no default value.
const MOST_RECORD_LEVELS: u32 = 50;

impl Evaluator<'_> {
    /// Calls the function that a local holds; bound inputs and given arguments are put together by position.
    pub(crate) fn call_local(
        &mut self,
        local: Register,
        arguments: Vec<Value>,
        is_used: &dyn Fn(usize) -> bool,
        span: Span,
    ) -> EvalResult<Vec<Value>> {
        let value = match self.frame.get(local) {
            Some(value) => value.clone(),
            None => return Err(EvalError::not_constant(span, "a function argument")),
        };
        let Value::Function(target) = value else {
            return Err(diagnostics::kind_mismatch(span, "a function", type_name(value.base_type())).into());
        };
        if target.bound.is_empty() {
            return self.call_function(target.function, arguments, is_used, span);
        }
        let n_inputs = self.env.procedure(target.function)?.inputs.len();
        let mut given = arguments.into_iter();
        let mut all = Vec::with_capacity(n_inputs);
        for position in 0..n_inputs {
            let bound = target.bound.iter().find(|(p, _)| *p as usize == position).map(|(_, v)| v.clone());
            match bound.or_else(|| given.next()) {
                Some(value) => all.push(value),
                None => break,
            }
        }
        self.call_function(target.function, all, is_used, span)
    }

    pub(crate) fn call_function(
        &mut self,
        id: FunctionId,
        arguments: Vec<Value>,
        is_used: &dyn Fn(usize) -> bool,
        span: Span,
    ) -> EvalResult<Vec<Value>> {
        let procedure = self.env.procedure(id)?;
        self.step(span)?;
        if self.calls.len() >= self.limits.depth as usize {
            return Err(diagnostics::calls_too_deep(self.outermost(span), self.limits.depth, &procedure.name).into());
        }
        if arguments.len() > procedure.inputs.len() {
            return Err(diagnostics::wrong_arguments(span, &procedure.name, arguments.len()).into());
        }
        let mut frame = Frame::new(procedure.n_registers);
        for (&input, value) in procedure.inputs.iter().zip(arguments) {
            let base = procedure.local(input).map_or(BaseType::Error, |l| l.ty.base);
            frame.set(input, value.converted(base));
        }
        let caller = std::mem::replace(&mut self.frame, frame);
        self.calls.push((procedure.clone(), span));
        let result = self.run_procedure(id, &procedure, is_used, span);
        self.calls.pop();
        self.frame = caller;
        result
    }

    fn run_procedure(
        &mut self,
        id: FunctionId,
        procedure: &Procedure,
        is_used: &dyn Fn(usize) -> bool,
        span: Span,
    ) -> EvalResult<Vec<Value>> {
        self.initialise(procedure, span)?;
        match &procedure.body {
            Body::Statements(block) => {
                self.run(block, span)?;
            }
            Body::Record(record) => return self.construct_record(*record, procedure, span),
            Body::External(external) => self.run_external(id, procedure, external, span)?,
        }
        let mut results = Vec::with_capacity(procedure.outputs.len());
        for (k, &output) in procedure.outputs.iter().enumerate() {
            if let Some(flag) = procedure.output_flag(output)
                && self.frame.get(flag) != Some(&Value::Boolean(true))
                && is_used(k)
            {
                self.returned_without_value(procedure, output, span)?;
            }
            results
                .push(self.frame.take(output).ok_or_else(|| -> EvalError { diagnostics::unknown_local(span).into() })?);
        }
        Ok(results)
    }

    #[cold]
    fn returned_without_value(&mut self, procedure: &Procedure, output: Register, span: Span) -> EvalResult<()> {
        let Some(local) = procedure.local(output) else { return Err(diagnostics::unknown_local(span).into()) };
        let place = self.outermost(span);
        let message = diagnostics::returned_without_value(place, &local.name, &local.ty, &procedure.name, local.span);
        self.report_missing(message)
    }

    /// Gives every local its declared value, or the default of its type, and checks the sizes of inputs and initial values.
    fn initialise(&mut self, procedure: &Procedure, span: Span) -> EvalResult<()> {
        self.frame.is_initialising = true;
        let (first, rest) =
            procedure.initial.split_at((procedure.n_before_check as usize).min(procedure.initial.len()));
        for &local in first {
            self.initialise_local(procedure, local, span)?;
        }
        for &input in &procedure.inputs {
            self.check_size(procedure, input, span)?;
        }
        if !matches!(procedure.body, Body::Record(_)) {
            for &local in rest {
                self.initialise_local(procedure, local, span)?;
            }
            for &local in rest {
                if procedure.local(local).is_some_and(|l| l.default.is_some()) {
                    self.check_size(procedure, local, span)?;
                }
            }
        }
        self.frame.is_initialising = false;
        Ok(())
    }

    fn initialise_local(&mut self, procedure: &Procedure, register: Register, span: Span) -> EvalResult<()> {
        if self.frame.get(register).is_some() {
            return Ok(());
        }
        let Some(local) = procedure.local(register) else { return Err(diagnostics::unknown_local(span).into()) };
        let value = match &local.default {
            Some(default) => self.eval_code(default)?.converted(local.ty.base),
            None if procedure.inputs.contains(&register) => {
                let what = format!("the input `{}` of `{}`", local.name, procedure.name);
                return Err(EvalError::not_constant(span, what));
            }
            None if has_default(local.ty.base) => self.default_value(local)?,
            None => return Ok(()),
        };
        self.frame.set(register, value);
        Ok(())
    }

    /// An input or an initial value has the sizes of its declaration, as in `input Real y[size(x, 1)]`; `:` is any.
    fn check_size(&mut self, procedure: &Procedure, register: Register, span: Span) -> EvalResult<()> {
        let Some(local) = procedure.local(register).filter(|l| !l.ty.is_scalar()) else { return Ok(()) };
        for (d, dim) in local.ty.dims.iter().enumerate() {
            let expected = match (dim.known(), local.sizes.get(d)) {
                (Some(n), _) => n as i64,
                (None, Some(Some(size))) => integer_of(&self.eval_code(size)?, size.span)?,
                _ => continue,
            };
            let found = self.frame.get(register).and_then(|v| v.dims().get(d).copied());
            let Some(found) = found.filter(|&n| n as i64 != expected) else { continue };
            let is_input = procedure.inputs.contains(&register);
            if is_input
                && local.sizes.get(d).and_then(Option::as_ref).is_some_and(|size| code_names_number(procedure, size))
            {
                self.warn(diagnostics::size_stated(span, &local.name, d, expected, found));
                continue;
            }
            return Err(diagnostics::size_expected(span, &local.name, d, expected, found).into());
        }
        Ok(())
    }

    fn construct_record(&mut self, record: RecordId, procedure: &Procedure, span: Span) -> EvalResult<Vec<Value>> {
        let mut fields = Vec::with_capacity(procedure.inputs.len());
        for &input in &procedure.inputs {
            fields
                .push(self.frame.take(input).ok_or_else(|| -> EvalError { diagnostics::unknown_local(span).into() })?);
        }
        Ok(vec![Value::record(record, fields)])
    }

    fn default_value(&mut self, local: &Local) -> EvalResult {
        let mut dims = Vec::with_capacity(local.ty.rank());
        for (d, dim) in local.ty.dims.iter().enumerate() {
            let size = match (dim.known(), local.sizes.get(d)) {
                (Some(n), _) => usize::try_from(n).unwrap_or(usize::MAX),
                (None, Some(Some(size))) => {
                    let value = self.eval_code(size)?;
                    self.size_of(&value, size.span)?
                }
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
        procedure: &Procedure,
        external: &External,
        span: Span,
    ) -> EvalResult<()> {
        let unknown = || EvalError::not_constant(span, format!("the external function `{}`", external.name));
        let native = native::find(&external.name).filter(|_| !saltus_flat::defines_code(&external.includes));
        if native.is_none() && self.env.foreign().is_none() {
            return Err(unknown());
        }
        let mut arguments = Vec::with_capacity(external.arguments.len());
        for argument in &external.arguments {
            arguments.push(match argument {
                ExternalArgument::Input(code) => self.eval_code(code)?,
                ExternalArgument::Output(local) => match self.frame.get(*local) {
                    Some(value) => value.clone(),
                    None => return Err(self.without_value(*local, span)),
                },
            });
        }
        // From here on the arguments are the only holders, so that writing into them copies nothing.
        for argument in &external.arguments {
            if let ExternalArgument::Output(local) = argument {
                self.frame.take(*local);
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
            None => call_foreign(&mut context, procedure, external, &mut arguments),
        };
        self.steps = self.steps.saturating_add(context.steps);
        let result = result.map_err(|error| match error {
            NativeError::NotConstant => unknown(),
            NativeError::Failed(reason) => diagnostics::external_failed(span, &external.name, &reason).into(),
        })?;
        for (argument, value) in external.arguments.iter().zip(arguments) {
            if let ExternalArgument::Output(local) = argument {
                self.store_result(procedure, *local, value);
            }
        }
        if let (Some(local), Some(value)) = (external.result, result) {
            self.store_result(procedure, local, value);
        }
        Ok(())
    }

    fn store_result(&mut self, procedure: &Procedure, local: Register, value: Value) {
        let base = procedure.local(local).map_or(BaseType::Error, |l| l.ty.base);
        self.frame.set(local, value.converted(base));
    }
}

/// A function of the user's own libraries.
fn call_foreign(
    context: &mut NativeContext,
    procedure: &Procedure,
    external: &External,
    arguments: &mut [Value],
) -> NativeResult {
    let result = external.result.and_then(|local| procedure.local(local)).map(|local| &local.ty);
    if result.is_some_and(|ty| !ty.dims.is_empty() || matches!(ty.base, BaseType::Record(_))) {
        return Err("an array or a record can be an argument that the function writes, but not its result".into());
    }
    let is_output: Vec<bool> = external.arguments.iter().map(|a| matches!(a, ExternalArgument::Output(_))).collect();
    let call = ForeignCall {
        function: &procedure.name,
        name: &external.name,
        language: &external.language,
        libraries: &external.libraries,
        directories: &external.directories,
        includes: &external.includes,
        include_directories: &external.include_directories,
        passing: &external.passing,
        is_output: &is_output,
        result: result.map(|ty| ty.base),
    };
    let foreign = context.env.foreign().ok_or(NativeError::NotConstant)?;
    let result = foreign.call(&call, arguments)?;
    let written = arguments.iter().zip(&is_output).filter(|(_, is_output)| **is_output).map(|(value, _)| value);
    written.chain(&result).try_for_each(|value| check_ordinals(context.env, value))?;
    Ok(result)
}

/// An enumeration value from foreign code is one of the literals (specification 12.9.1.1).
fn check_ordinals(env: &dyn Environment, value: &Value) -> Result<(), String> {
    match value {
        Value::Enum(id, ordinal) => {
            let n = env.enum_type(*id).literals.len();
            let is_literal = *ordinal >= 1 && *ordinal as usize <= n;
            is_literal.then_some(()).ok_or_else(|| {
                format!("it gave the value {ordinal} for an enumeration with {n} literals, which count from 1")
            })
        }
        Value::Record(_, fields) => fields.iter().try_for_each(|field| check_ordinals(env, field)),
        Value::Array(array) if matches!(array.items().base_type(), BaseType::Enumeration(_) | BaseType::Record(_)) => {
            value.elements().into_iter().try_for_each(|element| check_ordinals(env, &element))
        }
        _ => Ok(()),
    }
}

/// Functions and external objects have nothing to start with.
fn has_default(base: BaseType) -> bool {
    matches!(base, BaseType::Record(_)) || Value::default_scalar(base).is_some()
}
