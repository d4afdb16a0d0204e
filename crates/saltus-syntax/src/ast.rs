//! The syntax tree of Modelica 3.6 (with the additions of the 3.7 draft), exactly as written.
//!
//! Every node that a message may point at has a [`Span`]. Nothing is normalised: parentheses, the order of
//! sections, several components in one clause and both kinds of array constructors are kept, so that the
//! formatter can print what was written. Comments are not nodes; [`StoredDefinition::comments`] lists them by
//! position and the formatter weaves them in.

use saltus_base::{Name, Span};

#[derive(Clone, Copy, Debug)]
pub struct Ident {
    pub name: Name,
    pub span: Span,
}

/// A whole file.
#[derive(Debug)]
pub struct StoredDefinition {
    pub within: Option<Within>,
    pub classes: Vec<Definition>,
    pub comments: Vec<Comment>,
    pub span: Span,
}

/// `within A.B;`; the path is empty in `within;`.
#[derive(Debug)]
pub struct Within {
    pub path: Vec<Ident>,
    pub span: Span,
}

/// A top-level class: `[final] class-definition ;`
#[derive(Debug)]
pub struct Definition {
    pub is_final: bool,
    pub class: ClassDef,
}

/// `// …` or `/* … */`, delimiters included in the span.
#[derive(Clone, Copy, Debug)]
pub struct Comment {
    pub span: Span,
    /// Nothing but white space stands before it on its line.
    pub own_line: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClassKind {
    Class,
    Model,
    Block,
    Connector,
    ExpandableConnector,
    Record,
    OperatorRecord,
    Type,
    Package,
    Function,
    OperatorFunction,
    Operator,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purity {
    Pure,
    Impure,
}

#[derive(Debug)]
pub struct ClassDef {
    pub is_encapsulated: bool,
    pub is_partial: bool,
    pub purity: Option<Purity>,
    pub kind: ClassKind,
    pub name: Ident,
    pub body: ClassBody,
    pub span: Span,
}

#[derive(Debug)]
pub enum ClassBody {
    Long(LongClass),
    /// `= [input|output] Base[subscripts](modification)`
    Short(ShortClass),
    /// `= enumeration(…)`
    Enumeration(EnumerationBody),
    /// `= der(f, x, y)`: a partial derivative of a function.
    Derivative {
        function: Path,
        variables: Vec<Ident>,
        comment: Annotated,
    },
}

#[derive(Debug)]
pub struct LongClass {
    /// `class extends Name(modification)`: present for such classes, with the (possibly empty) modification.
    pub extends: Option<Option<ClassModification>>,
    pub description: Description,
    pub sections: Vec<Section>,
    pub external: Option<External>,
    /// The annotation of the class (`annotation(…);` before `end`).
    pub annotation: Option<Annotation>,
    pub end_name: Option<Ident>,
}

#[derive(Debug)]
pub struct ShortClass {
    pub direction: Option<Direction>,
    /// `type C = constant Real`, as older versions of the language have it; with a warning.
    pub variability: Option<Variability>,
    pub connection: Option<Connection>,
    pub base: Path,
    pub subscripts: Vec<Subscript>,
    pub modification: Option<ClassModification>,
    pub comment: Annotated,
}

#[derive(Debug)]
pub struct EnumerationBody {
    /// `None` stands for `enumeration(:)`.
    pub literals: Option<Vec<EnumerationLiteral>>,
    pub comment: Annotated,
}

#[derive(Debug)]
pub struct EnumerationLiteral {
    pub name: Ident,
    pub comment: Annotated,
}

/// The string behind a declaration; several literals joined with `+` are one string.
#[derive(Default, Debug)]
pub struct Description {
    pub parts: Vec<StringLiteral>,
}

#[derive(Clone, Debug)]
pub struct StringLiteral {
    /// With escapes resolved.
    pub value: Box<str>,
    pub span: Span,
}

/// Description string and annotation.
#[derive(Default, Debug)]
pub struct Annotated {
    pub description: Description,
    pub annotation: Option<Annotation>,
}

#[derive(Debug)]
pub struct Annotation {
    pub modification: ClassModification,
    pub span: Span,
}

#[derive(Debug)]
pub enum Section {
    /// The elements before the first `public` or `protected` have `keyword: None` and are public.
    Elements {
        visibility: Visibility,
        keyword: Option<Span>,
        elements: Vec<Element>,
    },
    Equations {
        is_initial: bool,
        keyword: Span,
        equations: Vec<Equation>,
    },
    Algorithm {
        is_initial: bool,
        keyword: Span,
        statements: Vec<Statement>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Visibility {
    Public,
    Protected,
}

#[derive(Debug)]
pub struct External {
    pub language: Option<StringLiteral>,
    pub call: Option<ExternalCall>,
    /// The annotation before the semicolon.
    pub annotation: Option<Annotation>,
    pub span: Span,
}

/// `[result =] name(arguments)`
#[derive(Debug)]
pub struct ExternalCall {
    pub result: Option<ComponentRef>,
    pub name: Ident,
    pub arguments: Vec<Expr>,
}

#[derive(Debug)]
pub struct Element {
    pub kind: ElementKind,
    pub span: Span,
}

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "classes and components, the large ones, are nearly all elements")]
pub enum ElementKind {
    Import(Import),
    Extends(Extends),
    Class(ClassElement),
    Components(ComponentClause),
    /// Kept so that the tree of a broken file still has a place for what could not be understood.
    Error,
}

#[derive(Debug)]
pub struct Import {
    pub path: Path,
    pub kind: ImportKind,
    pub comment: Annotated,
}

#[derive(Debug)]
pub enum ImportKind {
    /// `import A.B.C;`
    Qualified,
    /// `import D = A.B.C;`
    Renamed(Ident),
    /// `import A.B.*;`
    All,
    /// `import A.B.{C, D};`
    Some(Vec<Ident>),
}

#[derive(Debug)]
pub struct Extends {
    pub base: Path,
    pub modification: Option<ClassModification>,
    pub annotation: Option<Annotation>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct ElementPrefixes {
    pub is_redeclare: bool,
    pub is_final: bool,
    pub is_inner: bool,
    pub is_outer: bool,
    pub is_replaceable: bool,
}

#[derive(Debug)]
pub struct ClassElement {
    pub prefixes: ElementPrefixes,
    pub class: ClassDef,
    pub constrained_by: Option<ConstrainedBy>,
}

#[derive(Debug)]
pub struct ConstrainedBy {
    pub base: Path,
    pub modification: Option<ClassModification>,
    /// Comment behind the constraining clause.
    pub comment: Annotated,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Connection {
    Flow,
    Stream,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variability {
    Discrete,
    Parameter,
    Constant,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    Input,
    Output,
}

/// `flow parameter input Real[3] a = 1, b;`: one type, several components.
#[derive(Debug)]
pub struct ComponentClause {
    pub prefixes: ElementPrefixes,
    pub connection: Option<Connection>,
    pub variability: Option<Variability>,
    pub direction: Option<Direction>,
    pub type_name: Path,
    pub subscripts: Vec<Subscript>,
    pub components: Vec<Component>,
    pub constrained_by: Option<ConstrainedBy>,
}

#[derive(Debug)]
pub struct Component {
    pub name: Ident,
    pub subscripts: Vec<Subscript>,
    pub modification: Option<Modification>,
    pub condition: Option<Expr>,
    pub comment: Annotated,
    pub span: Span,
}

/// What follows a name in a declaration or a modification: `(…)`, `= e`, `:= e`, `(…) = e`, `= break`.
#[derive(Debug)]
pub struct Modification {
    pub class: Option<ClassModification>,
    pub value: Option<ModificationValue>,
    pub span: Span,
}

#[derive(Debug)]
pub struct ModificationValue {
    /// Written `:=` (in functions), not `=`.
    pub is_assignment: bool,
    /// `None` stands for `= break`.
    pub expr: Option<Expr>,
}

#[derive(Debug)]
pub struct ClassModification {
    pub arguments: Vec<Argument>,
    pub span: Span,
}

#[derive(Debug)]
pub enum Argument {
    Modification(ElementModification),
    /// `redeclare …` or a `replaceable` element; boxed because it is rare and large.
    Redeclaration(Box<ElementRedeclaration>),
    /// `break name` and `break connect(a, b)` (selective model extension of the 3.7 draft, in `extends` only).
    BreakElement(Ident),
    BreakConnect {
        from: ComponentRef,
        to: ComponentRef,
        span: Span,
    },
    /// Kept where an argument could not be understood.
    Error(Span),
}

/// `[each] [final] a.b.c [modification] "description"`
#[derive(Debug)]
pub struct ElementModification {
    pub is_each: bool,
    pub is_final: bool,
    pub name: Path,
    pub modification: Option<Modification>,
    pub description: Description,
    pub span: Span,
}

/// `redeclare [each] [final] …` or `[each] [final] replaceable …` inside a modification.
#[derive(Debug)]
pub struct ElementRedeclaration {
    pub is_redeclare: bool,
    pub is_each: bool,
    pub is_final: bool,
    pub is_replaceable: bool,
    pub kind: RedeclarationKind,
    pub constrained_by: Option<ConstrainedBy>,
    pub span: Span,
}

#[derive(Debug)]
pub enum RedeclarationKind {
    /// A short class definition, or a long one (an extension that libraries use).
    Class(ClassDef),
    /// Exactly one component; its `prefixes` are empty.
    Component(ComponentClause),
}

/// `.A.B.C` or `A.B.C`
#[derive(Clone, Debug)]
pub struct Path {
    pub is_global: bool,
    pub parts: Vec<Ident>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct ComponentRef {
    pub is_global: bool,
    pub parts: Vec<RefPart>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct RefPart {
    pub name: Ident,
    pub subscripts: Vec<Subscript>,
}

#[derive(Clone, Debug)]
pub enum Subscript {
    /// `:`
    Colon(Span),
    Expr(Expr),
}

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    /// The exact digits are in the source at the span.
    Integer(i64),
    Real(f64),
    /// With escapes resolved.
    String(Box<str>),
    Boolean(bool),
    Ref(Box<ComponentRef>),
    /// A call by name, also `der(…)`, `initial()`, `pure(…)`.
    Call(Box<Call>),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `if c1 then e1 elseif c2 then e2 … else e`
    If(Vec<(Expr, Expr)>, Box<Expr>),
    /// `start : stop` and `start : step : stop`
    Range {
        start: Box<Expr>,
        step: Option<Box<Expr>>,
        stop: Box<Expr>,
    },
    /// `{a, b}`
    Array(Vec<Expr>),
    /// `{e for i in …}`
    Comprehension(Box<Expr>, Vec<ForIndex>),
    /// `[a, b; c, d]`
    Matrix(Vec<Vec<Expr>>),
    /// `(e)` has one entry; `(a, , c)` has empty ones; also `()`.
    Parenthesised(Vec<Option<Expr>>),
    /// `(e).name` or `(e)[i]`: the parenthesised expression, subscripts directly behind it, then names (3.7 draft).
    Access {
        base: Box<Expr>,
        subscripts: Vec<Subscript>,
        parts: Vec<RefPart>,
    },
    /// `end` inside subscripts.
    End,
    /// `function f(a = 1)` as an argument.
    PartialFunction(Box<Call>),
    /// Kept where an expression could not be understood.
    Error,
}

#[derive(Clone, Debug)]
pub struct Call {
    pub name: ComponentRef,
    pub arguments: Vec<Expr>,
    pub named: Vec<NamedArgument>,
    /// `f(e for i in 1:3)`: the reduction's iterators; then there is exactly one argument.
    pub iterators: Vec<ForIndex>,
}

#[derive(Clone, Debug)]
pub struct NamedArgument {
    pub name: Ident,
    pub value: Expr,
}

#[derive(Clone, Debug)]
pub struct ForIndex {
    pub name: Ident,
    /// `None` where the range follows from the use of the index.
    pub range: Option<Expr>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnaryOp {
    Plus,
    Minus,
    ElementPlus,
    ElementMinus,
    Not,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    ElementAdd,
    ElementSubtract,
    ElementMultiply,
    ElementDivide,
    ElementPower,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

#[derive(Debug)]
pub struct Equation {
    pub kind: EquationKind,
    pub comment: Annotated,
    pub span: Span,
}

#[derive(Debug)]
pub enum EquationKind {
    Equality {
        left: Expr,
        right: Expr,
    },
    Connect {
        from: ComponentRef,
        to: ComponentRef,
    },
    If {
        branches: Vec<(Expr, Vec<Equation>)>,
        otherwise: Option<Vec<Equation>>,
    },
    For {
        indices: Vec<ForIndex>,
        body: Vec<Equation>,
    },
    When {
        branches: Vec<(Expr, Vec<Equation>)>,
    },
    /// `assert(…)`, `reinit(…)`, `Connections.root(…)`, `transition(…)`: a call for its effect.
    Call(Call),
    Error,
}

#[derive(Debug)]
pub struct Statement {
    pub kind: StatementKind,
    pub comment: Annotated,
    pub span: Span,
}

#[derive(Debug)]
pub enum StatementKind {
    Assign {
        target: ComponentRef,
        value: Expr,
    },
    /// `(a, , c) := f(x)`
    AssignTuple {
        targets: Vec<Option<ComponentRef>>,
        call: Call,
    },
    Call(Call),
    If {
        branches: Vec<(Expr, Vec<Statement>)>,
        otherwise: Option<Vec<Statement>>,
    },
    For {
        indices: Vec<ForIndex>,
        body: Vec<Statement>,
    },
    While {
        condition: Expr,
        body: Vec<Statement>,
    },
    When {
        branches: Vec<(Expr, Vec<Statement>)>,
    },
    Break,
    Return,
    Error,
}
