//! Expressions, statements and functions with few words.

use std::sync::Arc;

use saltus_base::{IdVec, Index as _};
use saltus_flat::{
    BaseType, BinaryOp, Builtin, Dim, EnumId, Expr, ExprKind, External, ExternalArgument, Function, FunctionId,
    Iterator, Local, LocalId, Purity, RecordId, Statement, StatementKind, Subscript, Type, VarId,
};

use super::{World, nowhere};

/// The one enumeration of [`World`].
pub fn e() -> EnumId {
    EnumId::from_usize(0)
}

/// The one record type of [`World`].
pub fn r() -> RecordId {
    RecordId::from_usize(0)
}

pub fn real(x: f64) -> Expr {
    Expr::real(x, nowhere())
}

pub fn int(i: i64) -> Expr {
    Expr::integer(i, nowhere())
}

pub fn boolean(b: bool) -> Expr {
    Expr::boolean(b, nowhere())
}

pub fn string(s: &str) -> Expr {
    Expr::string(s, nowhere())
}

pub fn literal(ordinal: u32) -> Expr {
    Expr::new(ExprKind::EnumLiteral(e(), ordinal), Type::scalar(BaseType::Enumeration(e())), nowhere())
}

pub fn expr(kind: ExprKind, ty: Type) -> Expr {
    Expr::new(kind, ty, nowhere())
}

pub fn var(i: usize, ty: Type) -> Expr {
    expr(ExprKind::Var(VarId::from_usize(i)), ty)
}

pub fn local(id: LocalId, ty: Type) -> Expr {
    expr(ExprKind::Local(id), ty)
}

pub fn reals(n: u64) -> Type {
    Type::array(BaseType::Real, [Dim::Known(n)])
}

pub fn unknown(base: BaseType, rank: usize) -> Type {
    Type::array(base, vec![Dim::Unknown; rank])
}

/// An array constructor of at least one element.
pub fn array(items: Vec<Expr>) -> Expr {
    let n = Dim::Known(items.len() as u64);
    let base = if items.iter().any(|i| i.ty.base == BaseType::Real) { BaseType::Real } else { items[0].ty.base };
    let ty = Type { base, dims: items[0].ty.dims.clone() }.with_outer(&[n]);
    expr(ExprKind::Array(items), ty)
}

pub fn ints(items: &[i64]) -> Expr {
    array(items.iter().map(|&i| int(i)).collect())
}

pub fn vector(items: &[f64]) -> Expr {
    array(items.iter().map(|&x| real(x)).collect())
}

/// The type does not matter to the evaluator, except for empty results.
pub fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    use BinaryOp::*;
    let base = match op {
        Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual | And | Or => BaseType::Boolean,
        Div | Pow => BaseType::Real,
        _ if a.ty.base == BaseType::Real || b.ty.base == BaseType::Real => BaseType::Real,
        _ => a.ty.base,
    };
    let dims = if a.ty.rank() >= b.ty.rank() { a.ty.dims.clone() } else { b.ty.dims.clone() };
    expr(ExprKind::Binary(op, Box::new(a), Box::new(b)), Type { base, dims })
}

pub fn builtin(function: Builtin, arguments: Vec<Expr>, ty: Type) -> Expr {
    Expr::builtin(function, arguments, ty, nowhere())
}

pub fn range(a: Expr, step: Option<Expr>, b: Expr) -> Expr {
    let ty = unknown(a.ty.base, 1);
    expr(ExprKind::Range { start: Box::new(a), step: step.map(Box::new), stop: Box::new(b) }, ty)
}

pub fn index(base: Expr, subscripts: Vec<Subscript>) -> Expr {
    let scalar = subscripts.iter().filter(|s| matches!(s, Subscript::Index(_))).count();
    let ty = base.ty.element(scalar);
    expr(ExprKind::Index { base: Box::new(base), subscripts }, ty)
}

pub fn at(base: Expr, i: Expr) -> Expr {
    index(base, vec![Subscript::Index(i)])
}

pub fn field(base: Expr, field: u32, ty: Type) -> Expr {
    expr(ExprKind::Field { base: Box::new(base), field }, ty)
}

pub fn when_true(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    let ty = then.ty.clone();
    let kind = ExprKind::If { condition: Box::new(condition), then: Box::new(then), otherwise: Box::new(otherwise) };
    expr(kind, ty)
}

pub fn iterator(i: usize, range: Expr) -> Iterator {
    Iterator { local: LocalId::from_usize(i), range }
}

pub fn call(function: FunctionId, arguments: Vec<Expr>, ty: Type) -> Expr {
    expr(ExprKind::Call { function, arguments }, ty)
}

pub fn statement(kind: StatementKind) -> Statement {
    Statement { kind, span: nowhere() }
}

pub fn assign(target: Expr, value: Expr) -> Statement {
    statement(StatementKind::Assign { target, value })
}

/// A function under construction.
pub struct Builder {
    function: Function,
}

pub fn function(name: &str) -> Builder {
    Builder {
        function: Function {
            name: name.into(),
            locals: IdVec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            body: Vec::new(),
            external: None,
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
        },
    }
}

impl Builder {
    pub fn variable(&mut self, name: &str, ty: Type) -> LocalId {
        let sizes = vec![None; ty.rank()];
        self.function.locals.push(Local { name: name.into(), ty, sizes, default: None, span: nowhere() })
    }

    pub fn input(&mut self, name: &str, ty: Type) -> LocalId {
        let id = self.variable(name, ty);
        self.function.inputs.push(id);
        id
    }

    pub fn output(&mut self, name: &str, ty: Type) -> LocalId {
        let id = self.variable(name, ty);
        self.function.outputs.push(id);
        id
    }

    /// An output of any type, before the others.
    pub fn result(&mut self, name: &str) -> LocalId {
        let id = self.variable(name, Type::ERROR);
        self.function.outputs.insert(0, id);
        id
    }

    pub fn set_default(&mut self, id: LocalId, default: Expr) {
        self.function.locals[id].default = Some(default);
    }

    pub fn set_sizes(&mut self, id: LocalId, sizes: Vec<Option<Expr>>) {
        self.function.locals[id].sizes = sizes;
    }

    pub fn body(mut self, world: &mut World, body: Vec<Statement>) -> FunctionId {
        self.function.body = body;
        self.add(world)
    }

    pub fn record_constructor(mut self, world: &mut World) -> FunctionId {
        self.function.is_record_constructor = true;
        self.add(world)
    }

    pub fn external(
        mut self,
        world: &mut World,
        name: &str,
        arguments: Vec<ExternalArgument>,
        result: Option<LocalId>,
    ) -> FunctionId {
        self.function.external = Some(External {
            language: "C".into(),
            name: name.into(),
            arguments,
            result,
            libraries: Vec::new(),
            directories: Vec::new(),
            includes: Vec::new(),
            include_directories: Vec::new(),
            destructor: None,
        });
        self.add(world)
    }

    fn add(self, world: &mut World) -> FunctionId {
        world.functions.push(Arc::new(self.function));
        FunctionId::from_usize(world.functions.len() - 1)
    }
}
