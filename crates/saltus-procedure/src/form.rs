//! The data of procedures: structured three-address code on registers.
//!
//! A function has one register for each of its local variables, in the order of declaration, and temporaries behind them.
//! An instruction reads operands (registers or literals) and sets one register. What is not always evaluated, or more
//! than once – branches, loops, bodies of reductions, messages – is a [`Code`] of its own inside of the instruction.
//!
//! Invariants (checked by [`crate::verify()`]): registers are in range, a temporary is set before it is read and read once,
//! `break` stands in a loop, targets of assignments are local variables.

use saltus_base::Span;
use saltus_flat::{
    BaseType, BinaryOp, Builtin, EnumId, FunctionId, LocalId, Passing, Purity, RecordId, ReductionOp, Type, UnaryOp,
    VarId,
};

saltus_base::define_id! {
    /// A local variable or a temporary of a procedure.
    pub struct Register;
}

/// A function, or a text with holes.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Procedure {
    /// Qualified name of the function.
    pub name: String,
    /// Their registers are the first ones.
    pub locals: Vec<Local>,
    /// Of locals and temporaries.
    pub n_registers: u32,
    pub inputs: Vec<Register>,
    pub outputs: Vec<Register>,
    /// Locals in an order in which they can get their initial values: a declaration comes after those it refers to. The
    /// inputs, and what their defaults need, come first.
    pub initial: Vec<Register>,
    /// Of those, how many come before the sizes of inputs are checked.
    pub n_before_check: u32,
    pub body: Body,
    pub purity: Purity,
    pub span: Span,
}

/// An input, output, protected variable, or iteration variable.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Local {
    pub name: String,
    pub ty: Type,
    /// Sizes of the dimensions that the type does not know; `None` where they come with the value.
    pub sizes: Vec<Option<Code>>,
    /// Default of an input, initial value of another variable.
    pub default: Option<Code>,
    /// The Boolean local that says whether this one has a value, where that is not certain.
    pub flag: Option<Register>,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Body {
    Statements(Block),
    /// The result is the record of the inputs.
    Record(RecordId),
    External(Box<External>),
}

/// `external "C" result = name(arguments)`
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct External {
    /// `"C"`, `"FORTRAN 77"` or `"builtin"`.
    pub language: String,
    pub name: String,
    pub arguments: Vec<ExternalArgument>,
    /// How each argument is passed.
    pub passing: Vec<Passing>,
    pub result: Option<Register>,
    pub libraries: Vec<String>,
    pub directories: Vec<String>,
    pub includes: Vec<String>,
    pub include_directories: Vec<String>,
    /// Of a constructor: the function that ends the life of the external object.
    pub destructor: Option<FunctionId>,
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum ExternalArgument {
    Input(Code),
    /// A local that the function writes.
    Output(Register),
}

/// Instructions in order.
pub type Block = Vec<Step>;

/// Instructions and the value they lead to.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Code {
    pub block: Block,
    pub value: Operand,
    pub span: Span,
}

/// An expression that stands by itself.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Expression {
    /// Variables of iterations around it, with the registers that hold their values.
    pub free: Vec<(LocalId, Register)>,
    pub n_registers: u32,
    pub code: Code,
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Operand {
    /// What a variable holds.
    Local(Register),
    /// What an instruction before has computed; nobody else reads it.
    Temporary(Register),
    Real(f64),
    Integer(i64),
    Boolean(bool),
    String(String),
    /// The ordinal counts from 1.
    Enumeration(EnumId, u32),
}

/// An operand with its place in the source text, for messages about it.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Argument {
    pub value: Operand,
    pub span: Span,
}

/// One instruction.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Step {
    Compute {
        to: Register,
        op: Op,
        span: Span,
    },
    /// Sets a register for each result that is needed.
    Call {
        to: Vec<Option<Register>>,
        callee: Callee,
        arguments: Vec<Operand>,
        span: Span,
    },
    /// Sets a local, or the part of it that the path leads to. The value takes the type of the local.
    Assign {
        target: Register,
        path: Vec<PathStep>,
        value: Operand,
        span: Span,
    },
    If {
        branches: Vec<(Code, Block)>,
        otherwise: Block,
    },
    For {
        iteration: Iteration,
        body: Block,
        span: Span,
    },
    While {
        condition: Code,
        body: Block,
        span: Span,
    },
    Break,
    Return,
    /// A local that is read has a value, which its flag says.
    Expect {
        local: Register,
        flag: Register,
        span: Span,
    },
    Assert {
        condition: Code,
        message: Code,
        /// `AssertionLevel`, an enumeration of warning and error; error if it is not given.
        level: Option<Code>,
        span: Span,
    },
    Terminate {
        message: Code,
        span: Span,
    },
    /// Something that has no value in a function; a noun phrase for the message.
    Unavailable {
        what: String,
        span: Span,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Callee {
    Function(FunctionId),
    /// The function that a local holds; the arguments are the inputs that it does not bind.
    Local(Register),
}

/// What an instruction computes.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Op {
    Copy(Operand),
    /// An array of numbers.
    Literal(Literal),
    Unary(UnaryOp, Operand),
    Binary(BinaryOp, Operand, Operand),
    /// `left and right`, `left or right`: the right one only where a scalar left one does not decide.
    Decide {
        is_or: bool,
        left: Operand,
        right: Box<Code>,
    },
    /// The value of the first branch whose condition holds.
    Choose {
        branches: Vec<(Code, Code)>,
        otherwise: Box<Code>,
    },
    /// Integer to Real, or enumeration to Integer, elementwise.
    Cast(BaseType, Operand),
    Record(RecordId, Vec<Operand>),
    /// `{a, b, …}`; the type says what an empty one holds.
    Array {
        elements: Vec<Argument>,
        ty: Type,
    },
    Range {
        start: Operand,
        step: Option<Operand>,
        stop: Operand,
    },
    /// A part of a value: `r.x[i].y`, `a[2, :]`.
    Select {
        base: Operand,
        path: Vec<PathStep>,
    },
    /// A function as a value: inputs that are bound, by position.
    Function {
        function: FunctionId,
        bound: Vec<(u32, Operand)>,
    },
    Builtin {
        function: Builtin,
        arguments: Vec<Argument>,
        ty: Type,
    },
    /// `size(array, dimension)`, `size(array)`; sizes that the type of the array knows need no array.
    Size {
        array: Option<Operand>,
        dimension: Option<Argument>,
        ty: Type,
    },
    /// `sum(body for i in …)`; the first iteration is the outermost one.
    Reduce {
        op: ReductionOp,
        iterations: Vec<Iteration>,
        body: Box<Code>,
        ty: Type,
    },
    /// A variable of the model; in expressions that stand by themselves only.
    Variable(VarId),
    InstanceName,
    /// Something that has no value here; a noun phrase for the message.
    Unavailable(String),
    /// Nested too deeply to be lowered.
    TooDeep,
}

/// An array of numbers that never changes, row-major.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Literal {
    Reals { dims: Vec<usize>, items: Vec<f64> },
    Integers { dims: Vec<usize>, items: Vec<i64> },
}

/// What a loop runs over.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub struct Iteration {
    pub variable: Register,
    /// Comes before the first round.
    pub block: Block,
    pub over: Over,
    pub span: Span,
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Over {
    /// The elements of a vector.
    Vector(Operand),
    Range {
        start: Operand,
        step: Option<Operand>,
        stop: Operand,
    },
}

/// One step from a value to a part of it.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum PathStep {
    /// Of a record; of an array of records the array of that field, which has this type.
    Field { field: u32, ty: Type, span: Span },
    /// Fewer subscripts than dimensions are filled up with `:`.
    Subscripts { subscripts: Vec<Subscript>, span: Span },
}

#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
pub enum Subscript {
    /// A scalar Integer, Boolean or enumeration value: removes the dimension.
    Index(Argument),
    /// A vector of Integers: keeps the dimension with that size.
    Slice(Argument),
    All,
}

impl Procedure {
    pub fn is_pure(&self) -> bool {
        self.purity == Purity::Pure
    }

    pub fn external(&self) -> Option<&External> {
        match &self.body {
            Body::External(external) => Some(external),
            _ => None,
        }
    }

    pub fn local(&self, register: Register) -> Option<&Local> {
        self.locals.get(saltus_base::Index::index(register))
    }

    /// The flag of an output, if there are ways to the end on which it gets no value.
    pub fn output_flag(&self, output: Register) -> Option<Register> {
        self.local(output)?.flag
    }

    pub fn is_local(&self, register: Register) -> bool {
        self.local(register).is_some()
    }
}

impl Operand {
    pub fn is_literal(&self) -> bool {
        !matches!(self, Operand::Local(_) | Operand::Temporary(_))
    }

    /// The register that is read.
    pub fn register(&self) -> Option<Register> {
        match self {
            Operand::Local(register) | Operand::Temporary(register) => Some(*register),
            _ => None,
        }
    }
}

impl Literal {
    pub fn dims(&self) -> &[usize] {
        match self {
            Literal::Reals { dims, .. } | Literal::Integers { dims, .. } => dims,
        }
    }

    pub fn base(&self) -> BaseType {
        match self {
            Literal::Reals { .. } => BaseType::Real,
            Literal::Integers { .. } => BaseType::Integer,
        }
    }
}

/// Several threads may execute one procedure.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<Procedure>();
};
