//! Typed functions and expressions to procedures. Nothing is evaluated here: a mistake that only shows when the function
//! is called stays one.
//!
//! ```text
//! y[i] := a*x + f(b);      ⇒      r5 := r1 * r2;   r6 := call f(r3);   r7 := r5 + r6;   assign r4[r0] := r7
//! ```
//!
//! In: a [`Function`], an [`Expr`], or an [`Expr`] with holes. Out: its [`Procedure`] or [`Expression`]. Temporaries of a
//! statement are free again after it.

mod expressions;
mod initial;
mod parts;
mod statements;
mod targets;
mod values;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use saltus_base::{Index as _, Span};
use saltus_flat::{self as flat, Expr, Function, LocalId, Purity, RecordId, Type};

use self::values::Values;
use crate::form::{
    Block, Body, Code, Expression, External, ExternalArgument, Local, Op, Operand, Procedure, Register, Step,
};

/// Nested expressions and statements. The lowering takes a few kB of stack for each, and so does whoever executes it.
const MOST_LEVELS: u32 = 500;

/// The procedure of a function.
pub fn lower(function: &Function) -> Procedure {
    let separated = targets::separate(function);
    let function = separated.as_ref().unwrap_or(function);
    let (procedure, unsettled) = lower_with(function, BTreeMap::new());
    if unsettled.is_empty() {
        return procedure;
    }
    let (function, flags) = values::with_flags(function, &unsettled);
    lower_with(&function, flags).0
}

/// With these flags; and the locals that should have one.
fn lower_with(function: &Function, flags: BTreeMap<LocalId, LocalId>) -> (Procedure, BTreeSet<LocalId>) {
    let mut lowering = Lowering::new(Locals::All(function.locals.len() as u32));
    if function.external.is_none() && !function.is_record_constructor {
        lowering.values = Values::new(function, flags);
    }
    let locals = function.locals.iter().map(|(id, l)| lowering.local_declaration(id, l)).collect();
    let register = |id: &LocalId| Register::from_usize(id.index());
    let (initial, n_before_check) = initial::order(function);
    let body = match (&function.external, record_of(function)) {
        (_, Some(record)) => Body::Record(record),
        (Some(external), None) => Body::External(Box::new(lowering.external(external))),
        (None, None) => {
            let block = lowering.statements(&function.body);
            lowering.values.return_all();
            Body::Statements(block)
        }
    };
    let procedure = Procedure {
        name: function.name.clone(),
        locals,
        n_registers: lowering.most,
        inputs: function.inputs.iter().map(register).collect(),
        outputs: function.outputs.iter().map(register).collect(),
        initial,
        n_before_check,
        body,
        purity: function.purity,
        span: function.span,
    };
    (procedure, lowering.values.unsettled)
}

/// An expression that stands by itself.
pub fn lower_expression(expr: &Expr) -> Expression {
    let mut lowering = Lowering::new(Locals::Free(HashMap::new(), Vec::new()));
    let code = lowering.code(expr);
    let free = match lowering.locals {
        Locals::Free(_, free) => free,
        Locals::All(_) => Vec::new(),
    };
    Expression { free, n_registers: lowering.most, code }
}

/// A text whose local variables are the holes in order, which have these types.
pub fn lower_template(name: &str, holes: &[Type], text: &Expr) -> Procedure {
    let n = holes.len();
    let mut lowering = Lowering::new(Locals::All(n as u32 + 1));
    let declared = |name: String, ty: &Type| Local {
        name,
        ty: ty.clone(),
        sizes: vec![None; ty.rank()],
        default: None,
        flag: None,
        span: text.span,
    };
    let mut locals: Vec<Local> = holes.iter().enumerate().map(|(i, ty)| declared(format!("hole {i}"), ty)).collect();
    locals.push(declared("text".to_owned(), &text.ty));
    let mut block = Block::new();
    let value = lowering.operand(text, &mut block);
    let output = Register::from_usize(n);
    block.push(Step::Assign { target: output, path: Vec::new(), value, span: text.span });
    Procedure {
        name: name.to_owned(),
        locals,
        n_registers: lowering.most,
        inputs: (0..n).map(Register::from_usize).collect(),
        outputs: vec![output],
        initial: (0..n).map(Register::from_usize).collect(),
        n_before_check: n as u32,
        body: Body::Statements(block),
        purity: Purity::Pure,
        span: text.span,
    }
}

fn record_of(function: &Function) -> Option<RecordId> {
    let output = function.outputs.first().filter(|_| function.is_record_constructor)?;
    match function.locals.get(*output)?.ty.base {
        flat::BaseType::Record(id) => Some(id),
        _ => None,
    }
}

/// Registers of local variables.
enum Locals {
    /// Of a function or a text with holes: each its own, by number.
    All(u32),
    /// Of an expression: iteration variables as they are met. Those that no iteration inside of the expression sets.
    Free(HashMap<LocalId, Register>, Vec<(LocalId, Register)>),
}

struct Lowering {
    locals: Locals,
    /// The next free register, and the highest so far.
    next: u32,
    most: u32,
    levels: u32,
    values: Values,
}

impl Lowering {
    fn new(locals: Locals) -> Lowering {
        let n = match locals {
            Locals::All(n) => n,
            Locals::Free(..) => 0,
        };
        Lowering { locals, next: n, most: n, levels: 0, values: Values::default() }
    }

    fn temporary(&mut self) -> Register {
        let register = Register::from_usize(self.next as usize);
        self.next += 1;
        self.most = self.most.max(self.next);
        register
    }

    /// The register of a local that is read.
    fn local(&mut self, id: LocalId) -> Register {
        if let Some(register) = self.bound(id) {
            return register;
        }
        let register = self.temporary();
        if let Locals::Free(known, free) = &mut self.locals {
            known.insert(id, register);
            free.push((id, register));
        }
        register
    }

    /// The register of a variable that an iteration sets.
    fn iteration_variable(&mut self, id: LocalId) -> Register {
        self.values.bind(id);
        if let Some(register) = self.bound(id) {
            return register;
        }
        let register = self.temporary();
        if let Locals::Free(known, _) = &mut self.locals {
            known.insert(id, register);
        }
        register
    }

    fn bound(&self, id: LocalId) -> Option<Register> {
        match &self.locals {
            Locals::All(n) if (id.index() as u32) < *n => Some(Register::from_usize(id.index())),
            Locals::All(_) => None,
            Locals::Free(known, _) => known.get(&id).copied(),
        }
    }

    fn local_declaration(&mut self, id: LocalId, local: &flat::Local) -> Local {
        Local {
            name: local.name.clone(),
            ty: local.ty.clone(),
            sizes: local.sizes.iter().map(|s| s.as_ref().map(|e| self.separate_code(e))).collect(),
            default: local.default.as_ref().map(|e| match self.values.is_missing(id) {
                true => self.unread(|l| l.separate_code(e)),
                false => self.separate_code(e),
            }),
            flag: self.values.flags.get(&id).map(|flag| Register::from_usize(flag.index())),
            span: local.span,
        }
    }

    fn external(&mut self, external: &flat::External) -> External {
        let register = |id: LocalId| Register::from_usize(id.index());
        let mut arguments = Vec::with_capacity(external.arguments.len());
        for argument in &external.arguments {
            arguments.push(match argument {
                flat::ExternalArgument::Input(e) => ExternalArgument::Input(self.separate_code(e)),
                flat::ExternalArgument::Output(local) => ExternalArgument::Output(register(*local)),
            });
        }
        let passing = |argument: &flat::ExternalArgument| match argument {
            flat::ExternalArgument::Input(e) => flat::Passing::of(&e.ty),
            flat::ExternalArgument::Output(_) => flat::Passing::Address,
        };
        External {
            language: external.language.clone(),
            name: external.name.clone(),
            arguments,
            passing: external.arguments.iter().map(passing).collect(),
            result: external.result.map(register),
            libraries: external.libraries.clone(),
            directories: external.directories.clone(),
            includes: external.includes.clone(),
            include_directories: external.include_directories.clone(),
            destructor: external.destructor,
        }
    }

    /// Code whose temporaries are free again afterwards.
    fn separate_code(&mut self, expr: &Expr) -> Code {
        let next = self.next;
        let code = self.code(expr);
        self.next = next;
        code
    }

    /// Code for an expression that is evaluated on its own.
    fn code(&mut self, expr: &Expr) -> Code {
        let mut block = Block::new();
        let value = self.operand(expr, &mut block);
        Code { block, value, span: expr.span }
    }

    /// Appends an instruction; its result.
    fn emit(&mut self, op: Op, span: Span, block: &mut Block) -> Operand {
        let to = self.temporary();
        block.push(Step::Compute { to, op, span });
        Operand::Temporary(to)
    }
}
