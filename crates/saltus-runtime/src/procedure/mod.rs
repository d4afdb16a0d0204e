//! Functions compiled to procedures: the same results as the evaluator of typed expressions, without building values.
//!
//! ```text
//! function root                          callable root(Real), results (Real)
//!   input Real x;  output Real y = 1;      ⇒  frame: x, y, temporaries; constants: 1, 1e-9, 2
//! algorithm
//!   while abs(y*y - x) > 1e-9 loop
//!     y := (y + x/y)/2;
//!   end while;
//! end root;
//! ```
//!
//! In: a function of the program and the shapes of its arguments. Out: a [`code::Procedure`] on a flat frame of `f64`, in
//! which every local has a fixed place because all sizes are known. [`compiler`] decides what is compiled for what,
//! [`body`], [`statements`], [`expressions`], [`views`], [`arrays`], [`builtins`] and [`calls`] write the code, [`run`]
//! executes it, or machine code does if it is called often.
//!
//! What is not supported (Strings, sizes that depend on values, external objects, effects) is left to the evaluator; so is
//! the repetition of every call that gets in trouble, to say what went wrong.

mod arrays;
mod body;
mod builtins;
mod calls;
pub mod code;
mod compiler;
mod expressions;
mod layout;
pub mod run;
mod statements;
mod tangent;
#[cfg(test)]
mod tests;
mod views;

use std::sync::Arc;

use saltus_base::Index as _;
use saltus_flat::{BaseType, Type};
use saltus_program::{Argument, Callable, CallableId, SimProgram};

use code::{At, LARGEST_INTEGER};
use compiler::{Compiler, Store};
use layout::{Compiled, Operand, Place, Unsupported, known_dims, n_elements};
use run::Stack;
pub use run::Trouble;
use tangent::Tangents;

use crate::native::procedure::{NativeProcedures, Progress};

/// Calls after which it pays to compile a procedure to machine code.
const HOT: u32 = 200;

/// The compiled functions of a program, made when first called.
pub struct Procedures {
    program: Arc<SimProgram>,
    store: Store,
    /// By callable.
    entries: Vec<Entry>,
    /// Directional derivatives, by callable.
    tangent_entries: Vec<Entry>,
    tangents: Tangents,
    stack: Stack,
    native: Option<Box<dyn NativeProcedures + Send>>,
}

enum Entry {
    New,
    Unsupported,
    Compiled(Call),
}

/// How a callable is called. Inputs lie at the beginning of the frame.
struct Call {
    procedure: usize,
    inputs: Vec<Kind>,
    /// Where the tangents of the inputs lie; they are given after all inputs.
    tangents_at: Option<usize>,
    /// First scalar and number of scalars of each output.
    outputs: Vec<(usize, usize)>,
    /// Scalars that say whether outputs that are used have values.
    flags: Vec<(usize, Trouble)>,
    code: Code,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Code {
    /// Until it has been called so often.
    Interpreted(u32),
    /// Interpreted while machine code is made.
    Awaited,
    Native,
    /// It cannot be compiled to machine code.
    InterpretedForGood,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Real,
    Integer,
    Boolean,
    Enumeration,
}

impl Procedures {
    pub fn new(program: Arc<SimProgram>) -> Self {
        let entries = || program.routines.callables.ids().map(|_| Entry::New).collect();
        Procedures {
            entries: entries(),
            tangent_entries: entries(),
            program,
            store: Store::default(),
            tangents: Tangents::default(),
            stack: Stack::default(),
            native: None,
        }
    }

    /// From now on, procedures that are called often become machine code.
    pub fn set_native(&mut self, native: Box<dyn NativeProcedures + Send>) {
        self.native = Some(native);
    }

    /// Appends the results of a call to `results`. In trouble if the function is not compiled or fails.
    pub fn call(&mut self, id: CallableId, arguments: &[f64], results: &mut Vec<f64>) -> Result<(), Trouble> {
        self.compile(id);
        match self.entries.get_mut(id.index()) {
            Some(Entry::Compiled(call)) => {
                call.make(&self.store, &mut self.native, &mut self.stack, arguments, results)
            }
            _ => Err(Trouble::Unclear),
        }
    }

    /// Appends the directional derivatives of the results; the tangents of all arguments follow these. In trouble if the
    /// function is not compiled or has no derivative there.
    pub fn call_tangent(&mut self, id: CallableId, arguments: &[f64], results: &mut Vec<f64>) -> Result<(), Trouble> {
        if let Some(Entry::New) = self.tangent_entries.get(id.index()) {
            let entry = self.differentiate(id).map_or(Entry::Unsupported, Entry::Compiled);
            self.tangent_entries[id.index()] = entry;
        }
        match self.tangent_entries.get_mut(id.index()) {
            Some(Entry::Compiled(call)) => {
                call.make(&self.store, &mut self.native, &mut self.stack, arguments, results)
            }
            _ => Err(Trouble::Unclear),
        }
    }

    fn compile(&mut self, id: CallableId) {
        if let Some(entry @ Entry::New) = self.entries.get_mut(id.index()) {
            *entry = Entry::Unsupported;
            let mut compiler = Compiler::new(&self.program, &mut self.store);
            let call = self.program.routines.callables.get(id).map(|c| compile(&mut compiler, c));
            if let (Some(Ok(call)), Some(entry)) = (call, self.entries.get_mut(id.index())) {
                *entry = Entry::Compiled(call);
            }
        }
    }

    fn differentiate(&mut self, id: CallableId) -> Option<Call> {
        self.compile(id);
        let Some(Entry::Compiled(call)) = self.entries.get(id.index()) else { return None };
        let frame = self.store.procedures.get(call.procedure)?.frame as usize;
        let procedure = self.tangents.of(call.procedure, &mut self.store)?;
        Some(Call {
            procedure,
            inputs: call.inputs.clone(),
            tangents_at: Some(frame),
            outputs: call.outputs.iter().map(|&(start, n)| (start + frame, n)).collect(),
            flags: call.flags.clone(),
            code: Code::Interpreted(0),
        })
    }
}

impl Call {
    fn make(
        &mut self,
        store: &Store,
        native: &mut Option<Box<dyn NativeProcedures + Send>>,
        stack: &mut Stack,
        arguments: &[f64],
        results: &mut Vec<f64>,
    ) -> Result<(), Trouble> {
        if let Some(native) = native {
            self.count(store, native.as_mut());
        }
        let native = native.as_ref().filter(|_| self.code == Code::Native).map(|n| n.as_ref() as &dyn NativeProcedures);
        run_call(self, store, native, stack, arguments, results)
    }

    /// Compiles it to machine code if it is time to.
    fn count(&mut self, store: &Store, native: &mut dyn NativeProcedures) {
        let (procedures, constants) = (&store.procedures, &store.constants.scalars);
        let progress = match &mut self.code {
            Code::Interpreted(n) if *n < HOT => {
                *n += 1;
                return;
            }
            Code::Interpreted(_) => native.compile(procedures, constants, self.procedure),
            Code::Awaited => native.progress(procedures, constants, self.procedure),
            Code::Native | Code::InterpretedForGood => return,
        };
        self.code = match progress {
            Progress::Ready => Code::Native,
            Progress::NotYet => Code::Awaited,
            Progress::Impossible => Code::InterpretedForGood,
        };
    }
}

fn compile(compiler: &mut Compiler, callable: &Callable) -> Compiled<Call> {
    let mut inputs = Vec::new();
    let mut operands = Vec::new();
    for argument in &callable.arguments {
        operands.push(match argument {
            Argument::Scalars(ty) => input(compiler, ty, &mut inputs)?,
            Argument::Text(_) => Operand::Value(Place::scalar(At::frame(0), BaseType::String)),
            Argument::Template { .. } => return Err(Unsupported("a String")),
            Argument::Parts { ty, .. } => {
                if argument.any(|a| matches!(a, Argument::Template { .. } | Argument::Object(_))) {
                    return Err(Unsupported("a String or an external object in an argument"));
                }
                input(compiler, ty, &mut inputs)?
            }
            Argument::Object(_) => return Err(Unsupported("an external object")),
            Argument::Function { function, bound } => {
                let bound = bound.iter().map(|(i, ty)| Ok((*i, input(compiler, ty, &mut inputs)?)));
                Operand::Function(*function, bound.collect::<Compiled<Vec<_>>>()?)
            }
        });
    }
    let signature = compiler.specialise(callable.function, &operands)?;
    if signature.outputs.len() < callable.results.len() {
        return Err(Unsupported("fewer results than declared"));
    }
    let mut outputs = Vec::new();
    for (output, ty) in signature.outputs.iter().zip(&callable.results) {
        let n = compiler.layout.size(output.base, &output.dims)?;
        if output.dims != known_dims(ty)? || n != compiler.layout.size(ty.base, &output.dims)? {
            return Err(Unsupported("a result of another size than declared"));
        }
        outputs.push((output.at.position(), n));
    }
    let mut flags = Vec::new();
    for (k, (flag, output)) in signature.flags.iter().zip(&signature.outputs).enumerate() {
        // The evaluator fails, or warns.
        let trouble = if output.is_scalar() { Trouble::Failure } else { Trouble::Unclear };
        flags.extend(flag.filter(|_| callable.uses(k)).map(|flag| (flag.position(), trouble)));
    }
    let code = Code::Interpreted(0);
    Ok(Call { procedure: signature.procedure, inputs, tangents_at: None, outputs, flags, code })
}

fn input(compiler: &Compiler, ty: &Type, kinds: &mut Vec<Kind>) -> Compiled<Operand> {
    let place = Place { at: At::frame(0), base: ty.base, dims: known_dims(ty)? };
    compiler.layout.size(place.base, &place.dims)?;
    add_kinds(compiler, ty, kinds)?;
    Ok(Operand::Value(place))
}

fn add_kinds(compiler: &Compiler, ty: &Type, kinds: &mut Vec<Kind>) -> Compiled<()> {
    for _ in 0..n_elements(&known_dims(ty)?)? {
        match ty.base {
            BaseType::Real => kinds.push(Kind::Real),
            BaseType::Integer => kinds.push(Kind::Integer),
            BaseType::Enumeration(_) => kinds.push(Kind::Enumeration),
            BaseType::Boolean => kinds.push(Kind::Boolean),
            BaseType::Record(id) => {
                let fields =
                    compiler.layout.program.routines.records.get(id).map(|r| r.fields.as_slice()).unwrap_or_default();
                fields.iter().try_for_each(|f| add_kinds(compiler, &f.ty, kinds))?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn run_call(
    call: &Call,
    store: &Store,
    native: Option<&dyn NativeProcedures>,
    stack: &mut Stack,
    arguments: &[f64],
    results: &mut Vec<f64>,
) -> Result<(), Trouble> {
    let procedure = store.procedures.get(call.procedure).ok_or(Trouble::Unclear)?;
    stack.prepare(procedure);
    if arguments.len() < call.inputs.len() {
        return Err(Trouble::Unclear);
    }
    for ((place, &x), kind) in stack.scalars.iter_mut().zip(arguments).zip(&call.inputs) {
        *place = match kind {
            Kind::Real => x,
            Kind::Boolean => f64::from(u8::from(x != 0.0)),
            Kind::Enumeration => f64::from(x.round() as u32),
            Kind::Integer if x.abs() < LARGEST_INTEGER => x.round() + 0.0,
            Kind::Integer => return Err(Trouble::Unclear),
        };
    }
    if let Some(at) = call.tangents_at {
        let tangents = arguments.get(call.inputs.len()..).ok_or(Trouble::Unclear)?;
        let places = stack.scalars.get_mut(at..).unwrap_or_default();
        for ((place, &tangent), kind) in places.iter_mut().zip(tangents).zip(&call.inputs) {
            *place = if *kind == Kind::Real { tangent } else { 0.0 };
        }
    }
    let constants = &store.constants.scalars;
    match native {
        Some(native) => native.run(call.procedure, constants, &mut stack.scalars)?,
        None => stack.run(&store.procedures, constants, call.procedure)?,
    }
    if let Some(&(_, trouble)) = call.flags.iter().find(|(flag, _)| stack.scalars.get(*flag) != Some(&1.0)) {
        return Err(trouble);
    }
    for &(start, n) in &call.outputs {
        results.extend_from_slice(stack.scalars.get(start..start + n).ok_or(Trouble::Unclear)?);
    }
    Ok(())
}
