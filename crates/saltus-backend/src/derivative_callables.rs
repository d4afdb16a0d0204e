//! Callables for the `derivative` annotations of functions that a program calls.
//!
//! ```text
//! y = value(table, u)         annotation(derivative = slope)       callable slope(table, u, ∂u) beside value(table, u)
//! ```
//!
//! In: the callables and functions of a program. Out: the same, each callable with the [`CallDerivative`] that its annotation gives,
//! behind them the callables that these refer to. Annotations about derivatives of records are left out. Native functions
//! without annotation whose derivative is native as well get a function for it.

use saltus_base::{IdVec, Index};
use saltus_eval::native;
use saltus_flat::{
    BaseType, Expr, ExprKind, External, ExternalArgument, FlatModel, Function, FunctionDerivative, FunctionId, Local,
    LocalId, Type,
};
use saltus_program::{Argument, CallDerivative, Callable, CallableId};

/// A record of records deeper than this is a cycle.
const MOST_RECORD_LEVELS: u32 = 50;

/// The functions of a model and those that are made here, whose ids come after those of its texts.
pub struct Functions<'a> {
    declared: &'a IdVec<FunctionId, Function>,
    first_made: usize,
    made: Vec<Function>,
}

impl<'a> Functions<'a> {
    pub fn new(declared: &'a IdVec<FunctionId, Function>, n_texts: usize) -> Self {
        Functions { declared, first_made: declared.len() + n_texts, made: Vec::new() }
    }

    pub fn into_made(self) -> Vec<Function> {
        self.made
    }

    fn get(&self, id: FunctionId) -> Option<&Function> {
        let made = || self.made.get(id.index().checked_sub(self.first_made)?);
        self.declared.get(id).or_else(made)
    }

    fn push(&mut self, function: Function) -> FunctionId {
        self.made.push(function);
        FunctionId::from_usize(self.first_made + self.made.len() - 1)
    }
}

/// Adds callables for derivatives of first order, and functions that they need.
pub fn add_derivatives(model: &FlatModel, functions: &mut Functions, callables: &mut IdVec<CallableId, Callable>) {
    for id in callables.ids().collect::<Vec<_>>() {
        let callable = &callables[id];
        let function = functions.get(callable.function).filter(|_| callable.effect.is_none());
        let Some(function) = function.cloned() else { continue };
        let first_order = function.derivatives.iter().filter(|d| d.order == 1 && !function.states_derivative());
        let annotated = first_order.filter_map(|d| derivative(model, functions, &function, d, callable)).next();
        let found = annotated.or_else(|| {
            let annotation = native_derivative(&function, functions)?;
            derivative(model, functions, &function, &annotation, callable)
        });
        if let Some((mut derivative, of)) = found {
            derivative.callable = callables.push(of);
            callables[id].derivative = Some(derivative);
        }
    }
}

/// What an annotation would say about a native function whose derivative is native, with the function that it would name.
fn native_derivative(function: &Function, functions: &mut Functions) -> Option<FunctionDerivative> {
    let external = function.external.as_ref()?;
    let (name, by) = native::derivative_of(&external.name)?;
    let inputs = external.arguments.iter().map(|argument| match argument {
        ExternalArgument::Input(Expr { kind: ExprKind::Local(local), .. }) => Some(*local),
        _ => None,
    });
    let inputs = inputs.collect::<Option<Vec<LocalId>>>()?;
    let by = by.iter().map(|&position| inputs.get(position).copied()).collect::<Option<Vec<LocalId>>>()?;
    let mut made = Function { derivatives: Vec::new(), ..function.clone() };
    let mut arguments = external.arguments.clone();
    // Tangents come in the order of the inputs.
    for &input in function.inputs.iter().filter(|input| by.contains(input)) {
        let local = made.locals.get(input)?.clone();
        let (ty, span) = (local.ty.clone(), local.span);
        let tangent = made.locals.push(Local { name: format!("der_{}", local.name), default: None, ..local });
        made.inputs.push(tangent);
        arguments.push(ExternalArgument::Input(Expr::new(ExprKind::Local(tangent), ty, span)));
    }
    made.external = Some(External { name: name.to_owned(), arguments, ..external.clone() });
    let no_derivative = function.inputs.iter().copied().filter(|input| !by.contains(input)).collect();
    let made = functions.push(made);
    Some(FunctionDerivative { function: made, order: 1, no_derivative, zero_derivative: Vec::new() })
}

/// The derivative without the number of its callable.
fn derivative(
    model: &FlatModel,
    functions: &Functions,
    function: &Function,
    annotation: &FunctionDerivative,
    callable: &Callable,
) -> Option<(CallDerivative, Callable)> {
    if callable.arguments.len() != function.inputs.len() || callable.results.len() > function.outputs.len() {
        return None;
    }
    let (mut tangents, mut constant) = (Vec::new(), Vec::new());
    let mut arguments = callable.arguments.clone();
    let mut position = 0;
    for (argument, input) in callable.arguments.iter().zip(&function.inputs) {
        let n = n_scalars_of(model, argument)?;
        let scalars = position..position + n;
        position += n;
        let ty = match argument {
            Argument::Scalars(ty) => ty,
            // Its tangents would have to be given part by part.
            Argument::Parts { .. } if n > 0 => return None,
            _ => continue,
        };
        match kind(model, annotation, *input, ty)? {
            Kind::Discrete => {}
            Kind::Constant => constant.extend(scalars),
            Kind::Real => {
                tangents.extend(scalars);
                arguments.push(Argument::Scalars(ty.clone()));
            }
        }
    }
    let mut results = Vec::new();
    let mut n_results = 0;
    let mut types = Vec::new();
    let mut unused = Vec::new();
    for (k, ty) in callable.results.iter().enumerate() {
        let n = n_scalars(model, ty, 0)?;
        match ty.base {
            BaseType::Real => {
                if !callable.uses(k) {
                    unused.push(types.len() as u32);
                }
                results.extend((n_results..n_results + n).map(Some));
                n_results += n;
                types.push(ty.clone());
            }
            BaseType::Record(_) => return None,
            _ => results.extend((0..n).map(|_| None)),
        }
    }
    let named = functions.get(annotation.function)?;
    if named.inputs.len() != arguments.len() || named.outputs.len() < types.len() {
        return None;
    }
    let of =
        Callable { function: annotation.function, arguments, results: types, unused, effect: None, derivative: None };
    let unnumbered = CallDerivative { callable: saltus_base::Index::from_usize(0), tangents, constant, results };
    Some((unnumbered, of))
}

enum Kind {
    /// Its tangent is an argument of the derivative.
    Real,
    /// Its tangent must be zero.
    Constant,
    Discrete,
}

fn kind(model: &FlatModel, annotation: &FunctionDerivative, input: LocalId, ty: &Type) -> Option<Kind> {
    if annotation.no_derivative.contains(&input) {
        return Some(Kind::Discrete);
    }
    if annotation.zero_derivative.contains(&input) {
        return Some(Kind::Constant);
    }
    match ty.base {
        BaseType::Real => Some(Kind::Real),
        BaseType::Record(_) if n_scalars(model, ty, 0)? > 0 => None,
        _ => Some(Kind::Discrete),
    }
}

fn n_scalars_of(model: &FlatModel, argument: &Argument) -> Option<u32> {
    match argument {
        Argument::Scalars(ty) => n_scalars(model, ty, 0),
        Argument::Text(_) | Argument::Object(_) => Some(0),
        Argument::Template { holes, .. } => holes.iter().map(|ty| n_scalars(model, ty, 0)).sum(),
        Argument::Function { bound, .. } => bound.iter().map(|(_, ty)| n_scalars(model, ty, 0)).sum(),
        Argument::Parts { items, .. } => items.iter().map(|item| n_scalars_of(model, item)).sum(),
    }
}

fn n_scalars(model: &FlatModel, ty: &Type, level: u32) -> Option<u32> {
    let n = u32::try_from(ty.n_elements()?).ok()?;
    let each = match ty.base {
        BaseType::Real | BaseType::Integer | BaseType::Boolean | BaseType::Enumeration(_) => 1,
        BaseType::Record(id) if level < MOST_RECORD_LEVELS => {
            let fields = model.records.get(id)?.fields.iter();
            fields.map(|f| n_scalars(model, &f.ty, level + 1)).sum::<Option<u32>>()?
        }
        BaseType::ExternalObject(_) => return None,
        _ => 0,
    };
    n.checked_mul(each)
}
