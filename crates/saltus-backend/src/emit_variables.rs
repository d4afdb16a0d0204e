//! The table of variables: everything that the declarations say about each scalar.
//!
//! ```text
//! parameter Real R(unit = "Ohm", min = 0) = 5 "Resistance"   ⇒   R: slot 7, parameter, unit Ohm, min 0, "Resistance"
//! ```
//!
//! Attributes that are not literals depend on parameters; the table leaves them out.

use std::sync::Arc;

use saltus_base::Index;
use saltus_flat::{
    BaseType, BinaryOp, Builtin, Causality as Prefix, Expr, ExprKind, FlatModel, UnaryOp, Variability as Speed,
    Variable as Declaration,
};
use saltus_program::{
    Causality, Declared, Element, SimProgram, SlotId, SlotKind, SlotType, Variability, Variables, derivative_name,
};

use crate::alias::Aliases;
use crate::system::{System, slot_type};

pub(crate) fn variables(model: &FlatModel, system: &System, aliases: &Aliases) -> Variables {
    let mut variables = Variables::default();
    let mut derivative_of: Vec<Option<SlotId>> = vec![None; system.slots.len()];
    for (slot, derivative) in &system.derivative_of {
        derivative_of[slot.index()] = Some(*derivative);
    }
    for (id, declared) in model.variables.iter() {
        let Some(ty) = slot_type(declared.ty.base) else { continue };
        let dims: Vec<u64> = declared.ty.dims.iter().filter_map(|d| d.known()).collect();
        let attributes = &declared.attributes;
        let number = |e: &Option<Expr>, i: usize| e.as_ref().and_then(|e| literal(e, &dims, i));
        let of_derivatives = Arc::new(Declared {
            is_hidden: declared.hide_result,
            is_protected: declared.is_protected,
            ..Declared::new(ty)
        });
        let mut shared: Option<Arc<Declared>> = None;
        for (i, &slot) in system.elements[id].iter().enumerate() {
            let alias = aliases.resolve(slot);
            // The negative of another variable has a slot of its own.
            let shown = if alias.is_negated { slot } else { alias.slot };
            let of_state = derivative_of[slot.index()];
            let derivative =
                of_state.or_else(|| given_up(system, aliases, slot)).map(|slot| (slot, of_derivatives.clone()));
            let of_element = OfElement {
                causality: causality(declared.causality, declared.variability, system.slots[shown].kind),
                start: number(&attributes.start, i),
                fixed: number(&attributes.fixed, i).map(|fixed| fixed != 0.0),
                min: number(&attributes.min, i),
                max: number(&attributes.max, i),
                nominal: attributes.nominal.as_ref().and_then(|e| value_of(model, e, &dims, i)),
            };
            let known = shared.filter(|known| of_element.is_that_of(known));
            let of_variable = known.unwrap_or_else(|| Arc::new(of_element.declared(declared, ty)));
            shared = Some(of_variable.clone());
            if dims.is_empty() {
                variables.push(&*declared.name, shown, of_variable);
                if let Some((slot, of_derivative)) = derivative {
                    variables.push(derivative_name(&declared.name), slot, of_derivative);
                }
                continue;
            }
            let (array, dims, declared) = (&*declared.name, &dims[..], of_variable);
            variables.push_element(Element { array, dims, position: i, slot: shown, declared, derivative });
        }
    }
    variables
}

/// What may differ from one element of an array to the next.
struct OfElement {
    causality: Causality,
    start: Option<f64>,
    fixed: Option<bool>,
    min: Option<f64>,
    max: Option<f64>,
    nominal: Option<f64>,
}

impl OfElement {
    fn is_that_of(&self, known: &Declared) -> bool {
        let bits = |value: Option<f64>| value.map(f64::to_bits);
        let own = [self.start, self.min, self.max, self.nominal].map(bits);
        own == [known.start, known.min, known.max, known.nominal].map(bits)
            && (self.causality, self.fixed) == (known.causality, known.fixed)
    }

    fn declared(self, variable: &Declaration, ty: SlotType) -> Declared {
        let attributes = &variable.attributes;
        Declared {
            ty,
            causality: self.causality,
            variability: variability(variable.variability, variable.ty.base),
            is_hidden: variable.hide_result,
            is_protected: variable.is_protected,
            is_final: variable.is_final,
            description: variable.description.clone(),
            unit: text(&attributes.unit),
            display_unit: text(&attributes.display_unit),
            quantity: text(&attributes.quantity),
            is_difference: attributes.is_difference,
            start: self.start,
            fixed: self.fixed,
            min: self.min,
            max: self.max,
            nominal: self.nominal,
            enumeration: if let BaseType::Enumeration(id) = variable.ty.base { Some(id) } else { None },
        }
    }
}

/// Conditions that decide about the structure are variables of the results, too; those of machines are there by name.
pub(crate) fn add_modes(program: &mut SimProgram) {
    let Some(configuration) = &program.configuration else { return };
    let is_state = |k: usize| configuration.regions.iter().any(|r| r.switch == k);
    let switches = configuration.switches.iter().enumerate().filter(|(k, _)| !is_state(*k));
    let declared = Arc::new(Declared {
        variability: Variability::Discrete,
        description: "Decides about the structure".to_owned(),
        ..Declared::new(SlotType::Boolean)
    });
    for (_, switch) in switches {
        program.variables.push(format!("mode({})", switch.text), switch.condition, declared.clone());
    }
}

/// The slot of the derivative of a variable that is differentiated and not a state.
fn given_up(system: &System, aliases: &Aliases, slot: SlotId) -> Option<SlotId> {
    let given_up = *system.introduced.given_up.get(&slot)?;
    let alias = aliases.resolve(given_up);
    Some(if alias.is_negated { given_up } else { alias.slot })
}

fn causality(declared: Prefix, speed: Speed, kind: SlotKind) -> Causality {
    match (declared, kind) {
        _ if speed <= Speed::Parameter => Causality::Parameter,
        (Prefix::Input, SlotKind::Input) => Causality::Input,
        (Prefix::Output, _) => Causality::Output,
        _ => Causality::Local,
    }
}

fn variability(declared: Speed, base: BaseType) -> Variability {
    match declared {
        Speed::Constant => Variability::Constant,
        Speed::Parameter => Variability::Parameter,
        Speed::Discrete => Variability::Discrete,
        Speed::Continuous if base == BaseType::Real => Variability::Continuous,
        Speed::Continuous => Variability::Discrete,
    }
}

fn text(attribute: &Option<Expr>) -> String {
    match attribute.as_ref().map(|e| &e.kind) {
        Some(ExprKind::String(text)) => text.to_string(),
        _ => String::new(),
    }
}

/// The value of an attribute for one element of a variable with these sizes; a scalar holds for all of them.
pub(crate) fn literal(e: &Expr, dims: &[u64], element: usize) -> Option<f64> {
    match &e.kind {
        ExprKind::Real(value) => Some(*value),
        ExprKind::Integer(value) => Some(*value as f64),
        ExprKind::EnumLiteral(_, ordinal) => Some(f64::from(*ordinal)),
        ExprKind::Boolean(value) => Some(f64::from(u8::from(*value))),
        ExprKind::Unary(UnaryOp::Negate, inner) => literal(inner, dims, element).map(|v| -v),
        ExprKind::Array(items) => {
            let (_, inner) = dims.split_first()?;
            let each = usize::try_from(inner.iter().product::<u64>()).ok()?.max(1);
            literal(items.get(element / each)?, inner, element % each)
        }
        ExprKind::Cast(inner) => literal(inner, dims, element),
        ExprKind::Binary(op, left, right) if dims.is_empty() => {
            arithmetic(*op, literal(left, dims, element)?, literal(right, dims, element)?)
        }
        _ => None,
    }
}

/// Parameters whose values are computed from each other in a nominal value, one through the other.
const DEEPEST: u32 = 16;

/// The same where the expression is made of parameters: with the values that these have in the model.
pub(crate) fn value_of(model: &FlatModel, e: &Expr, dims: &[u64], element: usize) -> Option<f64> {
    value_at_depth(model, e, dims, element, DEEPEST)
}

fn value_at_depth(model: &FlatModel, e: &Expr, dims: &[u64], element: usize, depth: u32) -> Option<f64> {
    if depth == 0 {
        return None;
    }
    let deeper = |e: &Expr| value_at_depth(model, e, dims, element, depth - 1);
    match &e.kind {
        ExprKind::Var(id) => {
            let variable = model.variables.get(*id).filter(|v| v.variability <= Speed::Parameter)?;
            let is_found = variable.attributes.fixed.as_ref().is_some_and(|e| literal(e, dims, element) == Some(0.0));
            let value = variable.binding.as_ref().or(variable.attributes.start.as_ref().filter(|_| !is_found))?;
            // A scalar holds for all elements.
            let own: &[u64] = if variable.ty.dims.is_empty() { &[] } else { dims };
            value_at_depth(model, value, own, if own.is_empty() { 0 } else { element }, depth - 1)
        }
        ExprKind::Unary(UnaryOp::Negate, inner) => deeper(inner).map(|v| -v),
        ExprKind::Cast(inner) => deeper(inner),
        ExprKind::Binary(op, left, right) if dims.is_empty() || e.ty.dims.is_empty() => {
            arithmetic(*op, deeper(left)?, deeper(right)?)
        }
        ExprKind::Builtin { function: Builtin::Abs, arguments } => deeper(arguments.first()?).map(f64::abs),
        ExprKind::Builtin { function: Builtin::Sqrt, arguments } => deeper(arguments.first()?).map(f64::sqrt),
        _ => literal(e, dims, element),
    }
}

/// Numbers in expressions as `nominal = L/T`, whose constants have been put in.
fn arithmetic(op: BinaryOp, left: f64, right: f64) -> Option<f64> {
    match op {
        BinaryOp::Add => Some(left + right),
        BinaryOp::Sub => Some(left - right),
        BinaryOp::Mul => Some(left * right),
        BinaryOp::Div => Some(left / right),
        BinaryOp::Pow => Some(left.powf(right)),
        _ => None,
    }
}
