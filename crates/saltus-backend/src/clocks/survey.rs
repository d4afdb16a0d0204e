//! Find out which equations of a model are clocked, before they are lowered for good.
//!
//! In: a flat model. Out: for each equation, binding and algorithm whether it belongs to a clocked partition, and the scalar
//! variables that do. What is clocked cannot be told from an equation alone (`add.y = add.u1 + add.u2`), and an unclocked
//! equation generates events while a clocked one does not; so the model is lowered once with everything literal, only to
//! see which variables occur together. (Specification: section 16.7.3, base-partitioning.)

use std::collections::BTreeMap;
use std::ops::Range;

use saltus_base::{Diagnostics, Index};
use saltus_flat::uses::{for_each_expr_of_algorithm, for_each_expr_of_equation};
use saltus_flat::{BaseType, Builtin, Equation, Expr, ExprKind, FlatModel, VarId};
use saltus_graph::{Sign, SignedUnionFind};
use saltus_program::{SlotId, SlotKind};

use crate::builtins::is_clocked;
use crate::dag::NodeId;
use crate::lower::Lowering;
use crate::parameters;
use crate::system::{System, declare_variables, is_unknown};

/// Something that is lowered as one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Item {
    Binding(VarId),
    Equation(usize),
    Algorithm(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clocking {
    Unclocked,
    Clocked,
    /// Some elements are clocked, others are not.
    Mixed,
}

pub struct ClockSurvey {
    /// By position in [`items`].
    pub items: Vec<Clocking>,
    /// By declared slot.
    pub is_clocked: Vec<bool>,
}

/// Everything that has equations, in the order of lowering.
pub fn items(model: &FlatModel) -> Vec<Item> {
    let has_equation = |id: VarId| {
        let variable = &model.variables[id];
        variable.binding.is_some() && (is_unknown(variable) || variable.ty.base == BaseType::Clock)
    };
    let bindings = model.variables.iter().map(|(id, _)| id).filter(|&id| has_equation(id)).map(Item::Binding);
    let equations = (0..model.equations.len()).map(Item::Equation);
    bindings.chain(equations).chain((0..model.algorithms.len()).map(Item::Algorithm)).collect()
}

/// Do all equations of an item belong to one partition even if they share no variable?
pub fn is_whole(model: &FlatModel, item: Item) -> bool {
    let mut has_call = false;
    let mut look = |e: &Expr| e.walk(&mut |e| has_call |= matches!(e.kind, ExprKind::Call { .. }));
    match item {
        Item::Algorithm(_) => return true,
        Item::Binding(id) => model.variables[id].binding.iter().for_each(&mut look),
        Item::Equation(i) => for_each_expr_of_equation(&model.equations[i], &mut look),
    }
    has_call
}

/// Looks for clocks; `None` if the model has none.
pub fn survey(model: &FlatModel) -> Option<ClockSurvey> {
    if !uses_clocks(model) {
        return None;
    }
    let mut system = declare_variables(model);
    let n_declared = system.slots.len();
    system.clocks.is_survey = true;
    // What cannot be lowered is reported when it is lowered for good.
    let mut diagnostics = Diagnostics::new();
    parameters::lower_parameters(model, &mut system, &mut diagnostics);
    let mut lowering = Lowering::new(model, &mut system, &mut diagnostics);
    lowering.is_literal = true;
    lowering.system.dag.keep_loads(true);
    let items = items(model);
    let mut ranges: Vec<(Range<usize>, Range<usize>)> = Vec::new();
    for &item in &items {
        let from = (lowering.system.equations.len(), lowering.system.checks.conditions.len());
        let _ = lowering.item(item);
        let to = (lowering.system.equations.len(), lowering.system.checks.conditions.len());
        ranges.push((from.0..to.0, from.1..to.1));
    }
    let marks = find_partitions(model, &system, &items, &ranges);
    let is_marked = |roots: &[NodeId]| variables_of(&system, &marks.before, roots).iter().any(|&s| marks.is_clocked(s));
    let items = ranges.into_iter().map(|(equations, assertions)| {
        let equations = system.equations[equations].iter().map(|e| is_marked(&[e.left, e.right]));
        let assertions = system.checks.conditions[assertions].iter().map(|a| is_marked(&[a.node]));
        let found: Vec<bool> = equations.chain(assertions).collect();
        match (found.contains(&true), found.contains(&false)) {
            (true, false) => Clocking::Clocked,
            (true, true) => Clocking::Mixed,
            _ => Clocking::Unclocked,
        }
    });
    let items = items.collect();
    let is_clocked = (0..n_declared).map(|k| marks.is_clocked(SlotId::from_usize(k))).collect();
    Some(ClockSurvey { items, is_clocked })
}

/// The variables of clocked partitions; nothing may have been loaded yet.
pub fn mark_clocked(system: &mut System, survey: &ClockSurvey) {
    for (k, _) in survey.is_clocked.iter().enumerate().filter(|(_, is_clocked)| **is_clocked) {
        let slot = SlotId::from_usize(k);
        if matches!(system.slots[slot].kind, SlotKind::Algebraic | SlotKind::Discrete) {
            system.slots[slot].kind = SlotKind::Clocked;
        }
    }
}

fn uses_clocks(model: &FlatModel) -> bool {
    let mut found = false;
    let mut look = |e: &Expr| {
        e.walk(&mut |e| {
            if let ExprKind::Builtin { function, arguments } = &e.kind {
                let is_event_sample =
                    *function == Builtin::Sample && arguments.get(1).is_some_and(|a| a.ty.is_numeric());
                found |= is_clocked(*function) && !is_event_sample;
            }
        });
    };
    model.variables.values().filter_map(|v| v.binding.as_ref()).for_each(&mut look);
    model.equations.iter().for_each(|e| for_each_expr_of_equation(e, &mut look));
    model.algorithms.iter().for_each(|a| for_each_expr_of_algorithm(a, &mut look));
    found
}

/// Slots of `previous`, `pre` and `der` values with the variables they belong to.
pub type Owners = BTreeMap<SlotId, SlotId>;

pub fn owners(system: &System) -> Owners {
    let pre = system.pre_of.iter().map(|(&variable, &pre)| (pre, variable));
    pre.chain(system.derivative_of.iter().map(|(&variable, &derivative)| (derivative, variable))).collect()
}

/// The variables and clocks that occur in nodes; `previous(x)` and `der(x)` count as x.
pub fn variables_of(system: &System, owners: &Owners, roots: &[NodeId]) -> Vec<SlotId> {
    let mut slots = system.dag.loads(roots);
    for slot in &mut slots {
        while let Some(&owner) = owners.get(slot) {
            *slot = owner;
        }
    }
    let counts = |slot: &SlotId| match system.slots[*slot].kind {
        SlotKind::Flag => system.clocks.clock_slots.contains(slot),
        SlotKind::Time | SlotKind::Parameter | SlotKind::Pre | SlotKind::Auxiliary | SlotKind::Homotopy => false,
        _ => true,
    };
    slots.retain(counts);
    slots
}

/// Everything that is known of the partitions, by slot.
struct Marks {
    classes: SignedUnionFind,
    is_clocked: Vec<bool>,
    before: Owners,
}

impl Marks {
    fn is_clocked(&self, slot: SlotId) -> bool {
        self.is_clocked[self.classes.find(slot.index()).0]
    }
}

fn find_partitions(
    model: &FlatModel,
    system: &System,
    items: &[Item],
    ranges: &[(Range<usize>, Range<usize>)],
) -> Marks {
    let before = owners(system);
    let mut classes = SignedUnionFind::new(system.slots.len());
    for (&item, (range, _)) in items.iter().zip(ranges) {
        let equations = &system.equations[range.clone()];
        if is_whole(model, item) {
            let roots: Vec<NodeId> = equations.iter().flat_map(|e| [e.left, e.right]).collect();
            unite(&mut classes, &variables_of(system, &before, &roots));
        } else {
            equations.iter().for_each(|e| unite(&mut classes, &variables_of(system, &before, &[e.left, e.right])));
        }
    }
    for equation in &system.clocks.outside {
        unite(&mut classes, &variables_of(system, &before, &[equation.left, equation.right]));
    }
    let clocks = &system.clocks;
    let mut marked: Vec<SlotId> = clocks.clock_slots.iter().copied().collect();
    marked.extend(&clocks.previous);
    for sample in &clocks.samples {
        marked.push(sample.port);
        sample.clock.iter().for_each(|&clock| unite(&mut classes, &[sample.port, clock]));
    }
    for conversion in &clocks.conversions {
        unite(&mut classes, &[conversion.port, conversion.source]);
        marked.push(conversion.port);
    }
    for query in &clocks.queries {
        let mut together = variables_of(system, &before, &query.argument);
        together.push(query.port);
        unite(&mut classes, &together);
        marked.push(query.port);
    }
    for (nodes, clock) in &clocks.associations {
        let mut together = variables_of(system, &before, nodes);
        together.push(*clock);
        unite(&mut classes, &together);
    }
    let mut is_clocked = vec![false; system.slots.len()];
    marked.into_iter().for_each(|slot| is_clocked[classes.find(slot.index()).0] = true);
    Marks { classes, is_clocked, before }
}

pub fn unite(classes: &mut SignedUnionFind, slots: &[SlotId]) {
    for pair in slots.windows(2) {
        // Signs play no part here, so that nothing can contradict.
        let _ = classes.unite(pair[0].index(), pair[1].index(), Sign::Plus);
    }
}

impl<'a> Lowering<'a, '_> {
    /// Lowers one item.
    pub fn item(&mut self, item: Item) -> crate::lower::Lowered<()> {
        let model = self.model;
        match item {
            Item::Binding(id) => self.binding_equation(id),
            Item::Equation(i) => {
                let equation: &'a Equation = &model.equations[i];
                self.equation(equation)
            }
            Item::Algorithm(i) => self.algorithm(&model.algorithms[i]),
        }
    }
}
