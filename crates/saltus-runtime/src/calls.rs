//! Calls of functions that are not written out as operations: procedures on frames of numbers, else on values.
//!
//! ```text
//! y = interpolate(table, u)      scalars u ⇒ arguments (object of the slot `table`, Real) ⇒ call ⇒ scalars y
//! ```
//!
//! In: the scalars of a call, row-major, records field by field. Out: the scalars of all results. Integers are rounded,
//! Booleans are "not 0", enumerations their ordinals. A String takes no scalar; inside of records it is empty. External
//! objects live here: a constructor yields one scalar, the handle, which the slot of the object holds.

mod tangent;

use std::sync::Arc;
use std::time::Duration;

use saltus_base::{Diagnostic, Index, Span};
use saltus_eval::{
    Environment, EvalError, Evaluator, FileKind, ImpureRandom, IncludedFunction, Inclusion, Items, Limits, Outside,
    UserTable, Value,
};
use saltus_flat::{BaseType, EnumId, EnumType, FunctionId, Passing, RecordId, RecordType, Type, VarId};
use saltus_procedure::Procedure;
use saltus_program::{Argument, Callable, CallableId, EvalFailure, Message, SimProgram, Stop};

use crate::direct::DirectCalls;
use crate::effects::Effects;
use crate::memo::Memo;
use crate::native::procedure::NativeProcedures;
use crate::procedure::{Procedures, Trouble};
use crate::timing::{CallTimes, Clock};

/// A table of tables deeper than this is a cycle.
const MOST_RECORD_LEVELS: u32 = 50;
/// Objects that a simulation may hold.
const MOST_OBJECTS: usize = 1_000_000;
const MOST_WARNINGS: usize = 100;
/// Lines of one point that are kept.
const MOST_LINES: usize = 1_000;

pub(crate) struct CallHost {
    world: World,
    /// Scalar results of the calls of the code being evaluated.
    results: Vec<Vec<f64>>,
    failed: Vec<bool>,
    any_failed: bool,
    objects: Vec<Value>,
    procedures: Procedures,
    direct: DirectCalls,
    /// Scalars of the arguments of the present call.
    given: Vec<f64>,
    memo: Memo,
    failure: Failure,
    /// Warnings since the evaluation of the present point began.
    pub warnings: Vec<Diagnostic>,
    /// Lines that functions without effects have printed since then.
    lines: Vec<String>,
    pub(crate) effects: Effects,
    /// Derivatives by differences.
    pub(crate) differences: tangent::Differences,
    pub n_calls: u64,
    /// Measures what calls cost, if somebody wants to know.
    times: Option<Box<CallTimes>>,
}

/// Why a call failed.
pub(crate) enum Failure {
    None,
    Known(EvalFailure),
    /// The evaluator finds it from the arguments, for the equation at the place, on demand.
    Of(CallableId, Vec<f64>, Span),
}

/// A simulation may spend longer on one call than a compiler: many minutes, unless it is interrupted.
const LIMITS: Limits = Limits { steps: 10_000_000_000, depth: 200, elements: 10_000_000 };

/// The program as the surroundings of function bodies.
struct World {
    #[expect(
        clippy::redundant_allocation,
        reason = "its own count: that of the program is shared with instances on other threads"
    )]
    program: Arc<Arc<SimProgram>>,
    records: Vec<Arc<RecordType>>,
    enumerations: Vec<Arc<EnumType>>,
    outside: Option<Box<dyn Outside>>,
    /// A call is being made for its effect.
    may_act: bool,
    random: ImpureRandom,
    stop: Stop,
}

impl Environment for World {
    fn variable(&mut self, _: VarId, span: Span) -> Result<Value, EvalError> {
        Err(EvalError::not_constant(span, "a variable of the model inside of a function"))
    }

    fn procedure(&mut self, id: FunctionId) -> Result<Arc<Procedure>, EvalError> {
        let missing = || EvalError::not_constant(Span::nowhere(), "a function that is not part of the program");
        self.program.routines.procedures.get(id).cloned().ok_or_else(missing)
    }

    fn record_type(&self, id: RecordId) -> Arc<RecordType> {
        let none = || Arc::new(RecordType { name: String::new(), fields: Vec::new() });
        self.records.get(id.index()).cloned().unwrap_or_else(none)
    }

    fn enum_type(&self, id: EnumId) -> Arc<EnumType> {
        let none = || Arc::new(EnumType { name: String::new(), literals: Vec::new() });
        self.enumerations.get(id.index()).cloned().unwrap_or_else(none)
    }

    fn read_file(&mut self, name: &str) -> Result<Vec<u8>, String> {
        match &mut self.outside {
            Some(outside) => outside.read(name),
            None => Err("this simulation has no access to files".to_owned()),
        }
    }

    fn wants_stop(&self) -> bool {
        self.stop.is_wanted()
    }

    fn user_table(&mut self, name: &str, n_variables: u32) -> Result<UserTable, String> {
        match &mut self.outside {
            Some(outside) => outside.user_table(name, n_variables),
            None => Err("this simulation has no access to C code".to_owned()),
        }
    }

    fn resolve_uri(&mut self, uri: &str) -> Option<String> {
        self.outside.as_mut()?.resolve(uri)
    }

    fn file_kind(&mut self, name: &str) -> Result<FileKind, String> {
        match &mut self.outside {
            Some(outside) => outside.kind(name),
            None => Err("this simulation has no access to files".to_owned()),
        }
    }

    fn full_path_name(&mut self, name: &str) -> String {
        self.outside.as_mut().map_or_else(|| name.to_owned(), |outside| outside.full_path_name(name))
    }

    fn outside(&mut self) -> Option<&mut dyn Outside> {
        if self.may_act { self.foreign() } else { None }
    }

    fn foreign(&mut self) -> Option<&mut dyn Outside> {
        match &mut self.outside {
            Some(outside) => Some(&mut **outside),
            None => None,
        }
    }

    fn instance_name(&self) -> String {
        self.program.name.clone()
    }

    fn impure_random(&mut self) -> Option<&mut ImpureRandom> {
        Some(&mut self.random)
    }
}

impl Drop for CallHost {
    fn drop(&mut self) {
        self.forget_objects();
    }
}

impl CallHost {
    pub fn new(program: Arc<SimProgram>) -> Self {
        let world = World {
            program: Arc::new(program.clone()),
            records: program.routines.records.values().cloned().map(Arc::new).collect(),
            enumerations: program.routines.enumerations.values().cloned().map(Arc::new).collect(),
            outside: None,
            may_act: false,
            random: ImpureRandom::default(),
            stop: Stop::default(),
        };
        CallHost {
            world,
            results: Vec::new(),
            failed: Vec::new(),
            any_failed: false,
            objects: Vec::new(),
            procedures: Procedures::new(program.clone()),
            direct: DirectCalls::new(&program),
            given: Vec::new(),
            memo: Memo::new(&program),
            failure: Failure::None,
            warnings: Vec::new(),
            lines: Vec::new(),
            effects: Effects::default(),
            differences: tangent::Differences::default(),
            n_calls: 0,
            times: None,
        }
    }

    /// From now on measures what calls cost.
    pub fn measure(&mut self, clock: Clock) {
        self.times = Some(Box::new(CallTimes::new(clock)));
    }

    pub fn times(&self) -> Option<&CallTimes> {
        self.times.as_deref()
    }

    /// What calls have taken so far.
    pub fn time_in_calls(&self) -> Duration {
        self.times.as_ref().map_or(Duration::ZERO, |times| times.total)
    }

    pub fn program(&self) -> &SimProgram {
        &self.world.program
    }

    pub fn random(&self) -> &ImpureRandom {
        &self.world.random
    }

    pub fn random_mut(&mut self) -> &mut ImpureRandom {
        &mut self.world.random
    }

    pub fn objects(&self) -> &[Value] {
        &self.objects
    }

    pub fn set_native_procedures(&mut self, native: Box<dyn NativeProcedures + Send>) {
        self.procedures.set_native(native);
    }

    pub fn watches_steps(&self) -> bool {
        self.world.outside.as_ref().is_some_and(|outside| outside.watches_steps())
    }

    pub fn end_step(&mut self, time: f64) -> bool {
        self.world.outside.as_mut().is_some_and(|outside| outside.end_step(time))
    }

    /// The state of an object of foreign code.
    pub fn save_object(&self, address: usize) -> Result<Vec<u8>, String> {
        match &self.world.outside {
            Some(outside) => outside.save_object(address),
            None => Err("it lives in foreign code".to_owned()),
        }
    }

    pub fn restore_object(&mut self, address: usize, state: &[u8]) -> Result<(), String> {
        match &mut self.world.outside {
            Some(outside) => outside.restore_object(address, state),
            None => Err("it lives in foreign code".to_owned()),
        }
    }

    pub fn set_stop(&mut self, stop: Stop) {
        self.world.stop = stop;
    }

    pub fn set_outside(&mut self, mut outside: Box<dyn Outside>) {
        outside.include(inclusions(&self.world.program));
        self.world.outside = Some(outside);
    }

    /// Before the evaluation of a point that may not become part of the solution.
    pub fn begin_point(&mut self) {
        self.warnings.clear();
        self.lines.clear();
    }

    /// The present point has become part of the solution: what functions have printed there is shown.
    pub fn print_lines(&mut self) {
        if let Some(outside) = &mut self.world.outside {
            self.lines.drain(..).for_each(|line| outside.print(&line));
        }
    }

    /// Before code with `n` calls is evaluated.
    pub fn begin(&mut self, n: usize) {
        if self.any_failed {
            self.failed.fill(false);
            self.any_failed = false;
        }
        if self.results.len() < n {
            self.results.resize_with(n, Vec::new);
            self.failed.resize(n, false);
        }
    }

    /// Forgets what calls have left behind.
    pub fn renew(&mut self) {
        self.forget_objects();
        self.world.random = ImpureRandom::default();
        self.failure = Failure::None;
        self.warnings.clear();
        self.differences = tangent::Differences::default();
        self.n_calls = 0;
    }

    /// Handles that slots hold from now on come from new constructor calls. The objects so far are destroyed, the last one
    /// first.
    pub fn forget_objects(&mut self) {
        let program = self.world.program.clone();
        for object in std::mem::take(&mut self.objects).into_iter().rev() {
            let Value::Object(held) = &object else { continue };
            let constructor = program.routines.procedures.get(held.class()).and_then(|p| p.external());
            let Some(destructor) = constructor.and_then(|e| e.destructor) else { continue };
            self.world.may_act = true;
            // A destructor has no results, and what it complains about comes too late.
            let _ = Evaluator::new(&mut self.world, LIMITS).call(destructor, vec![object], Span::nowhere());
            self.world.may_act = false;
        }
    }

    /// Why a call failed last, to be put back after evaluations that do not count.
    pub fn take_failure(&mut self) -> Failure {
        std::mem::replace(&mut self.failure, Failure::None)
    }

    pub fn put_failure(&mut self, failure: Failure) {
        self.failure = failure;
    }

    /// Has a call failed since [`CallHost::begin`]?
    pub fn has_failed(&self) -> bool {
        self.any_failed
    }

    pub fn call_failed(&self, k: u32) -> bool {
        self.failed.get(k as usize).copied().unwrap_or(false)
    }

    /// Why a call failed last.
    pub fn failure(&self) -> Option<EvalFailure> {
        match &self.failure {
            Failure::None => None,
            Failure::Known(failure) => Some(failure.clone()),
            // Only a procedure fails without reason, and needs neither files nor objects.
            Failure::Of(callable, given, span) => {
                let mut host = CallHost::new(Arc::clone(&self.world.program));
                host.evaluate(*callable, given, &[], *span, &mut Vec::new()).err()
            }
        }
    }

    /// Scalar `result` of call `k`; of a failed call not a number.
    pub fn result(&self, k: u32, result: u32) -> f64 {
        self.results.get(k as usize).and_then(|r| r.get(result as usize)).copied().unwrap_or(f64::NAN)
    }

    /// Call number `k` of the present code is not made: nothing uses its results.
    pub fn skip(&mut self, k: u32) {
        if let Some(results) = self.results.get_mut(k as usize) {
            results.clear();
        }
    }

    /// Makes call number `k` of the present code with the scalars `given`, for the equation at `span`.
    pub fn call(
        &mut self,
        k: u32,
        callable: CallableId,
        given: &mut dyn Iterator<Item = f64>,
        memory: &[f64],
        span: Span,
    ) {
        let Some(mut times) = self.times.take() else { return self.call_now(k, callable, given, memory, span) };
        let started = times.clock.now();
        self.call_now(k, callable, given, memory, span);
        times.add(callable, span, started);
        self.times = Some(times);
    }

    fn call_now(
        &mut self,
        k: u32,
        callable: CallableId,
        given: &mut dyn Iterator<Item = f64>,
        memory: &[f64],
        span: Span,
    ) {
        self.n_calls += 1;
        let mut scalars = Vec::new();
        if let Some(results) = self.results.get_mut(k as usize) {
            scalars = std::mem::take(results);
        }
        scalars.clear();
        self.given.clear();
        self.given.extend(given);
        let given = std::mem::take(&mut self.given);
        let effect = self.world.program.routines.callables.get(callable).and_then(|c| c.effect);
        let is_made = match effect {
            Some(effect) => self.call_effect(effect, callable, &given, memory, span, &mut scalars),
            None => self.make(callable, &given, memory, span, &mut scalars),
        };
        if !is_made {
            scalars.clear();
            self.any_failed = true;
            if let Some(failed) = self.failed.get_mut(k as usize) {
                *failed = true;
            }
        }
        self.given = given;
        if let Some(results) = self.results.get_mut(k as usize) {
            *results = scalars;
        }
    }

    /// Appends the scalars of the results; false if the call fails.
    fn make(
        &mut self,
        callable: CallableId,
        given: &[f64],
        memory: &[f64],
        span: Span,
        scalars: &mut Vec<f64>,
    ) -> bool {
        if let Some(of) = self.differentiated(callable) {
            return self.make_tangent(of, given, memory, span, scalars);
        }
        if let Some(result) = self.direct.call(callable, given, memory, &self.objects, &mut self.world) {
            scalars.push(result);
            return true;
        }
        let known = self.memo.find(callable, given, scalars);
        let outcome = known.map(|fine| if fine { Ok(()) } else { Err(Trouble::Failure) });
        match outcome.unwrap_or_else(|| self.procedures.call(callable, given, scalars)) {
            Ok(()) => {
                if known.is_none() {
                    self.memo.keep(callable, given, Some(scalars));
                }
                true
            }
            Err(Trouble::Failure) => {
                if known.is_none() {
                    self.memo.keep(callable, given, None);
                }
                self.fail_of(callable, given, span);
                false
            }
            Err(Trouble::Unclear) => match self.evaluate(callable, given, memory, span, scalars) {
                Ok(false) => {
                    self.memo.keep(callable, given, Some(scalars));
                    true
                }
                Ok(true) => true,
                Err(failure) => {
                    self.failure = Failure::Known(failure);
                    false
                }
            },
        }
    }

    /// Remembers what to ask the evaluator for a reason.
    fn fail_of(&mut self, callable: CallableId, given: &[f64], span: Span) {
        match &mut self.failure {
            Failure::Of(of, arguments, at) => {
                (*of, *at) = (callable, span);
                arguments.clear();
                arguments.extend_from_slice(given);
            }
            other => *other = Failure::Of(callable, given.to_vec(), span),
        }
    }

    /// Like [`CallHost::evaluate`], with effects permitted; false if the call fails.
    pub(crate) fn make_acting(
        &mut self,
        callable: CallableId,
        given: &[f64],
        memory: &[f64],
        span: Span,
        scalars: &mut Vec<f64>,
    ) -> bool {
        self.world.may_act = true;
        let made = self.evaluate(callable, given, memory, span, scalars);
        self.world.may_act = false;
        made.map_err(|failure| self.failure = Failure::Known(failure)).is_ok()
    }

    /// Scalars of all results of a callable.
    pub(crate) fn n_results(&self, callable: CallableId) -> usize {
        let program = &self.world.program;
        let results = program.routines.callables.get(callable).map_or(&[][..], |c| &c.results);
        results.iter().map(|ty| n_scalars(ty, program, 0).unwrap_or(0)).sum()
    }

    /// A call of something that is not compiled, or that got in trouble. True if there was something to tell the user.
    pub(crate) fn evaluate(
        &mut self,
        callable: CallableId,
        given: &[f64],
        memory: &[f64],
        span: Span,
        scalars: &mut Vec<f64>,
    ) -> Result<bool, EvalFailure> {
        let program = self.world.program.clone();
        let broken = |what: &str| EvalFailure::new(format!("internal error: {what}"), span);
        let Some(callable) = program.routines.callables.get(callable) else {
            return Err(broken("a call of something that is not callable"));
        };
        scalars.clear();
        let arguments = self.pack_arguments(callable, memory, given, span)?;
        let arguments = arguments.ok_or_else(|| broken("the arguments of a call do not fit its function"))?;
        let mut evaluator = Evaluator::new(&mut self.world, LIMITS);
        let called = evaluator.call_for(callable.function, arguments, &|k| callable.uses(k), span);
        let warnings = evaluator.take_warnings();
        let lines = evaluator.messages().iter().take(MOST_LINES.saturating_sub(self.lines.len()));
        let has_told = !warnings.is_empty() || !evaluator.messages().is_empty();
        self.lines.extend(lines.cloned());
        for warning in warnings {
            if self.warnings.len() < MOST_WARNINGS && !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
        let results = called.map_err(|e| self.explain(e, callable, span))?;
        for (result, ty) in results.into_iter().zip(&callable.results) {
            let before = scalars.len();
            let has_size = result.dims().iter().zip(&ty.dims).all(|(&found, dim)| dim.known() == Some(found as u64));
            self.unpack(result, scalars, 0);
            let expected = n_scalars(ty, &program, 0);
            if !has_size || expected != Some(scalars.len() - before) {
                return Err(broken("a result of a call does not have the declared size"));
            }
        }
        if self.objects.len() > MOST_OBJECTS {
            return Err(EvalFailure::new(format!("more than {MOST_OBJECTS} external objects"), span));
        }
        Ok(has_told)
    }

    fn explain(&self, error: EvalError, callable: &Callable, span: Span) -> EvalFailure {
        let function = self.world.program.routines.procedures.get(callable.function).map_or("?", |f| &f.name);
        match error {
            EvalError::Failed(diagnostic) => {
                let at = diagnostic.span.unwrap_or(span);
                let mut failure = EvalFailure::new(format!("in `{function}`: {}", diagnostic.message), at);
                if at != span {
                    failure.details.labels.push((span, format!("calls `{function}`")));
                }
                failure.details.labels.extend(diagnostic.labels.into_iter().map(|l| (l.span, l.text)));
                failure
            }
            EvalError::NotConstant { span: at, what } => {
                let span = if at.is_nowhere() { span } else { at };
                EvalFailure::new(format!("in `{function}`: {what} cannot be evaluated"), span)
            }
        }
    }

    /// The value of a String with its holes filled.
    fn fill(
        &mut self,
        text: FunctionId,
        holes: Vec<Value>,
        callable: &Callable,
        span: Span,
    ) -> Result<Option<Value>, EvalFailure> {
        let mut evaluator = Evaluator::new(&mut self.world, LIMITS);
        let called = evaluator.call(text, holes, span);
        Ok(called.map_err(|error| self.explain(error, callable, span))?.into_iter().next())
    }

    /// The text of a message with the numbers in memory; as it is written where it cannot be evaluated.
    pub fn message(&mut self, message: &Message, memory: &[f64]) -> String {
        let as_written = || message.as_written().to_owned();
        let Message::Template { text, holes, .. } = message else { return as_written() };
        let program = self.world.program.clone();
        let mut filled = Vec::with_capacity(holes.len());
        for (ty, slots) in holes {
            let scalars: Vec<f64> = slots.iter().map(|s| memory.get(s.index()).copied().unwrap_or(f64::NAN)).collect();
            let Some(value) = pack(ty, &program, &mut scalars.iter().copied(), 0) else { return as_written() };
            filled.push(value);
        }
        let mut evaluator = Evaluator::new(&mut self.world, LIMITS);
        match evaluator.call(*text, filled, Span::nowhere()).as_deref() {
            Ok([Value::String(text)]) => text.to_string(),
            _ => as_written(),
        }
    }

    /// `None` if there are fewer scalars than the types need.
    fn pack_arguments(
        &mut self,
        callable: &Callable,
        memory: &[f64],
        given: &[f64],
        span: Span,
    ) -> Result<Option<Vec<Value>>, EvalFailure> {
        let mut given = given.iter().copied();
        let mut arguments = Vec::with_capacity(callable.arguments.len());
        for argument in &callable.arguments {
            match self.pack_argument(argument, callable, memory, &mut given, span)? {
                Some(value) => arguments.push(value),
                None => return Ok(None),
            }
        }
        Ok(Some(arguments))
    }

    fn pack_argument(
        &mut self,
        argument: &Argument,
        callable: &Callable,
        memory: &[f64],
        given: &mut dyn Iterator<Item = f64>,
        span: Span,
    ) -> Result<Option<Value>, EvalFailure> {
        let program = self.world.program.clone();
        Ok(match argument {
            Argument::Scalars(ty) => pack(ty, &program, given, 0),
            Argument::Text(text) => Some(Value::string(text)),
            Argument::Template { text, holes } => {
                let holes = holes.iter().map(|ty| pack(ty, &program, given, 0)).collect::<Option<Vec<_>>>();
                match holes {
                    Some(holes) => self.fill(*text, holes, callable, span)?,
                    None => None,
                }
            }
            Argument::Object(slot) => {
                let handle = memory.get(slot.index()).copied().unwrap_or(f64::NAN);
                let object = if handle >= 0.0 { self.objects.get(handle as usize) } else { None };
                let Some(object) = object else {
                    let message =
                        format!("the external object `{}` has not been made", program.memory.slot_name(*slot));
                    return Err(EvalFailure::new(message, span));
                };
                Some(object.clone())
            }
            Argument::Function { function, bound } => {
                let bound = bound.iter().map(|(i, ty)| Some((*i, pack(ty, &program, given, 0)?)));
                bound.collect::<Option<Vec<_>>>().map(|bound| {
                    Value::Function(saltus_eval::FunctionValue { function: *function, bound: Arc::new(bound) })
                })
            }
            Argument::Parts { ty, items } => {
                let mut parts = Vec::with_capacity(items.len());
                for item in items {
                    match self.pack_argument(item, callable, memory, given, span)? {
                        Some(part) => parts.push(part),
                        None => return Ok(None),
                    }
                }
                assemble(ty, parts)
            }
        })
    }

    /// The scalars of a value; an external object becomes a handle.
    fn unpack(&mut self, value: Value, scalars: &mut Vec<f64>, level: u32) {
        match value {
            Value::Real(x) => scalars.push(x),
            Value::Integer(i) => scalars.push(i as f64),
            Value::Boolean(b) => scalars.push(f64::from(u8::from(b))),
            Value::Enum(_, ordinal) => scalars.push(f64::from(ordinal)),
            Value::Array(array) => match array.items() {
                Items::Real(items) => scalars.extend_from_slice(items),
                Items::Integer(items) => scalars.extend(items.iter().map(|&i| i as f64)),
                Items::Boolean(items) => scalars.extend(items.iter().map(|&b| f64::from(u8::from(b)))),
                Items::Enum(_, items) => scalars.extend(items.iter().map(|&o| f64::from(o))),
                Items::String(_) => {}
                Items::Other(_, items) if level < MOST_RECORD_LEVELS => {
                    items.iter().for_each(|item| self.unpack(item.clone(), scalars, level + 1));
                }
                Items::Other(..) => {}
            },
            Value::Record(_, fields) if level < MOST_RECORD_LEVELS => {
                fields.iter().for_each(|field| self.unpack(field.clone(), scalars, level + 1));
            }
            object @ Value::Object(_) => {
                scalars.push(self.objects.len() as f64);
                self.objects.push(object);
            }
            Value::String(_) | Value::Function(_) | Value::Record(..) => {}
        }
    }
}

/// The C text that the functions of a program bring along, each text once.
fn inclusions(program: &SimProgram) -> Vec<Inclusion> {
    let mut units: Vec<Inclusion> = Vec::new();
    let procedures = program.routines.procedures.values();
    for (procedure, external) in procedures.filter_map(|p| Some((p, p.external()?))) {
        let is_native = saltus_eval::is_native(&external.name) && !saltus_flat::defines_code(&external.includes);
        if external.includes.is_empty() || external.language != "C" || is_native {
            continue;
        }
        let result = external.result.and_then(|local| procedure.local(local));
        let function = IncludedFunction {
            name: external.name.clone(),
            passing: external.passing.clone(),
            result: result.map(|local| Passing::of(&local.ty)),
        };
        let is_same =
            |u: &&mut Inclusion| u.texts == external.includes && u.directories == external.include_directories;
        match units.iter_mut().find(is_same) {
            Some(unit) if unit.functions.contains(&function) => {}
            Some(unit) => unit.functions.push(function),
            None => units.push(Inclusion {
                texts: external.includes.clone(),
                directories: external.include_directories.clone(),
                functions: vec![function],
            }),
        }
    }
    units
}

/// Scalars that a value of this type has; `None` if a size is not known.
pub fn n_scalars(ty: &Type, program: &SimProgram, level: u32) -> Option<usize> {
    let n = usize::try_from(ty.n_elements()?).ok()?;
    let each = match ty.base {
        BaseType::Record(id) if level < MOST_RECORD_LEVELS => {
            let fields = program.routines.records.get(id)?.fields.iter();
            fields.map(|f| n_scalars(&f.ty, program, level + 1)).sum::<Option<usize>>()?
        }
        BaseType::Real
        | BaseType::Integer
        | BaseType::Boolean
        | BaseType::Enumeration(_)
        | BaseType::ExternalObject(_) => 1,
        _ => 0,
    };
    n.checked_mul(each)
}

/// An array or a record of its parts.
fn assemble(ty: &Type, parts: Vec<Value>) -> Option<Value> {
    if let (true, BaseType::Record(id)) = (ty.dims.is_empty(), ty.base) {
        return Some(Value::record(id, parts));
    }
    let dims = ty.dims.iter().map(|d| usize::try_from(d.known()?).ok()).collect::<Option<Vec<usize>>>()?;
    let mut items = Items::with_capacity(ty.base, parts.len());
    let all_fit = parts.into_iter().all(|part| items.push(part));
    if all_fit { Value::from_parts(dims, items) } else { None }
}

fn pack(ty: &Type, program: &SimProgram, given: &mut dyn Iterator<Item = f64>, level: u32) -> Option<Value> {
    if ty.dims.is_empty() {
        return pack_scalar(ty.base, program, given, level);
    }
    let dims = ty.dims.iter().map(|d| usize::try_from(d.known()?).ok()).collect::<Option<Vec<usize>>>()?;
    let n = usize::try_from(ty.n_elements()?).ok()?;
    if ty.base == BaseType::Real {
        let items: Vec<f64> = given.take(n).collect();
        return Value::from_parts(dims, Items::Real(items));
    }
    let mut items = Items::empty(ty.base);
    for _ in 0..n {
        if !items.push(pack_scalar(ty.base, program, given, level)?) {
            return None;
        }
    }
    Value::from_parts(dims, items)
}

fn pack_scalar(
    base: BaseType,
    program: &SimProgram,
    given: &mut dyn Iterator<Item = f64>,
    level: u32,
) -> Option<Value> {
    Some(match base {
        BaseType::Real => Value::Real(given.next()?),
        BaseType::Integer => Value::Integer(given.next()?.round() as i64),
        BaseType::Boolean => Value::Boolean(given.next()? != 0.0),
        BaseType::Enumeration(id) => Value::Enum(id, given.next()?.round() as u32),
        BaseType::String => Value::string(""),
        BaseType::Record(id) if level < MOST_RECORD_LEVELS => {
            let record = program.routines.records.get(id)?;
            let fields = record.fields.iter().map(|f| pack(&f.ty, program, given, level + 1));
            Value::record(id, fields.collect::<Option<Vec<_>>>()?)
        }
        _ => return None,
    })
}
