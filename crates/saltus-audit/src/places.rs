//! Which slots of the program hold which variable of the flat model.
//!
//! In: both. Out: a [`Place`] for every variable and derivative that has one; texts and external objects have none.

use std::collections::{BTreeMap, BTreeSet};

use saltus_base::Index as _;
use saltus_flat::{BaseType, Expr, ExprKind, FlatModel, Variability};
use saltus_program::{SimProgram, SlotId, SlotKind};

/// What is known of the memory of a program beyond its table of variables.
#[derive(Clone, Default, Debug)]
pub struct Layout {
    pub derivatives: Vec<KnownDerivative>,
    /// Slots that hold minus another one, but in event rounds not yet.
    pub negatives: Vec<(SlotId, SlotId)>,
}

/// Where the program has the derivative of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KnownDerivative {
    /// The slot of the variable in the table of variables.
    pub variable: SlotId,
    pub derivative: SlotId,
    /// The slot holds minus the derivative.
    pub is_negated: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Place {
    pub name: String,
    /// Row-major; minus the value where the flag is set.
    pub slots: Vec<(u32, bool)>,
    pub dims: Vec<usize>,
    pub base: BaseType,
    /// Zero for what is exact: parameters, and everything but Reals.
    pub nominal: f64,
    pub is_clocked: bool,
}

#[derive(Default, Debug)]
pub(crate) struct Places {
    pub time: usize,
    pub initial: usize,
    pub terminal: usize,
    /// By variable of the flat model.
    pub variables: Vec<Option<Place>>,
    pub derivatives: Vec<Option<Place>>,
    /// Slots of the program; derivatives behind them are those of other configurations.
    pub n_slots: usize,
    /// Whether states of machines of continuous time are active.
    pub active: BTreeMap<String, usize>,
}

impl Places {
    /// The table of the program has the scalars of the flat variables in the same order, those of states with the derivative behind.
    pub fn of(model: &FlatModel, program: &SimProgram, known: &[KnownDerivative]) -> Places {
        let derivative_of = written(program, known);
        // What other states of machines differentiate is shown behind the memory, by the table of variables.
        let has_machines = program.configuration.as_ref().is_some_and(|c| !c.regions.is_empty());
        let behind: BTreeMap<SlotId, (u32, bool)> = match has_machines {
            true => {
                let places = (program.memory.slots.len() as u32..).zip(&program.variables);
                places.map(|(place, variable)| (variable.slot, (place, false))).collect()
            }
            false => BTreeMap::new(),
        };
        let mut table = program.variables.iter().peekable();
        let mut places = Places {
            time: program.memory.time.index(),
            initial: program.memory.initial.index(),
            terminal: program.memory.terminal.index(),
            n_slots: program.memory.slots.len(),
            active: active(program),
            ..Places::default()
        };
        for variable in model.variables.values() {
            let is_listed = matches!(
                variable.ty.base,
                BaseType::Real | BaseType::Integer | BaseType::Boolean | BaseType::Enumeration(_)
            );
            let dims: Vec<usize> = variable.ty.dims.iter().filter_map(|d| d.known()).map(|n| n as usize).collect();
            let n = if is_listed { dims.iter().product() } else { 0 };
            let (mut slots, mut derivatives) = (Vec::with_capacity(n), Vec::new());
            let mut is_clocked = false;
            for _ in 0..n {
                let Some(listed) = table.next_if(|listed| listed.name().starts_with(&variable.name)) else { break };
                slots.push((listed.slot.index() as u32, false));
                let derivative = derivative_of.get(&listed.slot).or_else(|| behind.get(&listed.slot));
                derivatives.extend(derivative.copied());
                is_clocked |= program.memory.slots.get(listed.slot).is_some_and(|s| s.kind == SlotKind::Clocked);
                let derivative = format!("der({})", listed.name());
                table.next_if(|next| next.name() == derivative);
            }
            let is_exact = variable.variability <= Variability::Parameter || variable.ty.base != BaseType::Real;
            let nominal = if is_exact { 0.0 } else { nominal(variable.attributes.nominal.as_ref()) };
            let place = |slots: Vec<(u32, bool)>| Place {
                name: variable.name.clone(),
                slots,
                dims: dims.clone(),
                base: variable.ty.base,
                nominal,
                is_clocked,
            };
            let is_known = is_listed && slots.len() == n;
            places.derivatives.push((is_known && derivatives.len() == n).then(|| place(derivatives)));
            places.variables.push(is_known.then(|| place(slots)));
        }
        places
    }
}

/// The flags of states of machines of continuous time.
fn active(program: &SimProgram) -> BTreeMap<String, usize> {
    let Some(configuration) = &program.configuration else { return BTreeMap::new() };
    let regions = configuration.regions.iter().filter_map(|region| configuration.switches.get(region.switch));
    let states = regions.filter_map(|switch| switch.text.strip_prefix("activeState(")?.strip_suffix(')'));
    let flag = |state: &str| program.variables.iter().find(|v| v.name() == format!("active({state})"));
    states.filter_map(|state| Some((state.to_owned(), flag(state)?.slot.index()))).collect()
}

/// The slots of derivatives, as far as the program writes them.
fn written(program: &SimProgram, known: &[KnownDerivative]) -> BTreeMap<SlotId, (u32, bool)> {
    let blocks = program.sections.named().into_iter().flat_map(|(_, section)| &section.blocks);
    let mut stored: BTreeSet<SlotId> = blocks.flat_map(|block| block.stored()).collect();
    stored.extend(program.states.iter().flat_map(|state| [state.value, state.derivative]));
    let found = known.iter().filter(|d| stored.contains(&d.derivative));
    found.map(|d| (d.variable, (d.derivative.index() as u32, d.is_negated))).collect()
}

/// The largest literal nominal value; 1 if there is none.
fn nominal(expr: Option<&Expr>) -> f64 {
    let largest = |expr: &Expr| {
        let mut most: f64 = 0.0;
        expr.walk(&mut |part| {
            if let ExprKind::Real(x) = part.kind {
                most = most.max(x.abs());
            }
        });
        most
    };
    match expr.map(largest) {
        Some(most) if most > 0.0 && most.is_finite() => most,
        _ => 1.0,
    }
}
