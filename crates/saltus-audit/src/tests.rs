//! Sizes of terms and values of relations, on models of a line; the numbers are exact or follow from the definition of a size.
//! Whole runs are audited in `saltus/tests/audit.rs`.

use std::sync::Arc;

use saltus_flat::build::{Builder, add, div, greater, mul, real, sub};
use saltus_flat::{Expr, VarId};
use saltus_program::{Declared, Moment, SimProgram, Slot, SlotKind, SlotType};

use crate::places::Places;
use crate::plan::{self, Plan};
use crate::term::Term;
use crate::world::{Rules, World};
use crate::{Auditor, Layout, Options};

/// A program with nothing but slots for the variables and time.
fn program(model: &saltus_flat::FlatModel) -> SimProgram {
    let mut program = SimProgram::empty("M");
    let mut slot = |name: &str| program.memory.slots.push(name, Slot::new(SlotKind::Algebraic, SlotType::Real));
    let flags = [slot("time"), slot("initial()"), slot("terminal()")];
    let slots: Vec<_> = model.variables.values().map(|v| slot(&v.name)).collect();
    [program.memory.time, program.memory.initial, program.memory.terminal] = flags;
    let named = model.variables.values().zip(slots);
    let declared = Arc::new(Declared::new(SlotType::Real));
    named.for_each(|(v, slot)| program.variables.push(&*v.name, slot, declared.clone()));
    program
}

fn world(builder: Builder, values: &[f64]) -> (World, Plan) {
    let model = Arc::new(builder.model);
    let places = Places::of(&model, &program(&model), &[]);
    let plan = plan::plan(&model, &places);
    let mut world = World::new(model, places, plan.specials.clone(), 1e-6);
    world.memory = [0.0; 3].iter().chain(values).copied().collect();
    world.pre = world.memory.clone();
    (world, plan)
}

/// Value and size of an expression of `a`, `b` and `c`.
fn sized(values: [f64; 3], expr: impl Fn(Expr, Expr, Expr) -> Expr) -> (f64, f64) {
    let mut b = Builder::new("M");
    let ids: [VarId; 3] = ["a", "b", "c"].map(|name| b.parameter(name, 0.0));
    let expr = expr(b.var(ids[0]), b.var(ids[1]), b.var(ids[2]));
    let (mut world, _) = world(b, &values);
    Term::of(&expr).evaluate(&mut world).expect("a value").items[0]
}

#[test]
fn a_size_is_the_sum_of_what_may_cancel() {
    assert_eq!(sized([2.0, 1e6, 1e6], |a, b, c| mul(a, sub(b, c))), (0.0, 4e6));
    assert_eq!(sized([1.0, -2.0, 3.0], |a, b, c| add(sub(a, b), c)), (6.0, 6.0));
    // An error of the divisor counts as often as it is amplified.
    assert_eq!(sized([1.0, 3.0, 2.0], |a, b, c| div(a, sub(b, c))), (1.0, 5.0));
}

#[test]
fn near_zero_a_variable_is_worth_a_part_of_its_nominal_value() {
    let mut b = Builder::new("M");
    let x = b.real("x");
    let expr = mul(real(3.0), b.var(x));
    let (mut world, _) = world(b, &[0.0]);
    let (value, size) = Term::of(&expr).evaluate(&mut world).expect("a value").items[0];
    assert!(value == 0.0 && size > 0.0 && size < 1e-3, "{size}");
}

#[test]
fn a_relation_keeps_its_value_between_events() {
    let mut b = Builder::new("M");
    let (x, y) = (b.real("x"), b.real("y"));
    b.equation(b.var(y), saltus_flat::build::if_then_else(greater(b.var(x), real(1.0)), real(1.0), real(0.0)));
    let model = Arc::new(b.model);
    let mut auditor = Auditor::new(model.clone(), &program(&model), &Layout::default(), Options::default());
    let violations = |auditor: &Auditor| auditor.report().violations().len();
    let memory = |x: f64, y: f64| vec![0.0, 0.0, 0.0, x, y];
    auditor.see(Moment::Initial, &memory(0.0, 0.0));
    // Beyond the threshold by less than event detection promises: the relation is still false.
    auditor.see(Moment::Before, &memory(1.01, 0.0));
    assert_eq!(violations(&auditor), 0);
    auditor.see(Moment::RoundBegins, &memory(1.01, 0.0));
    auditor.see(Moment::Round, &memory(1.01, 1.0));
    auditor.see(Moment::After, &memory(1.01, 1.0));
    auditor.see(Moment::Between, &memory(1.5, 1.0));
    assert_eq!(violations(&auditor), 0);
    // Back below it without an event, by a third.
    auditor.see(Moment::Between, &memory(0.5, 1.0));
    assert_eq!(violations(&auditor), 1);
}

#[test]
fn where_both_sides_agree_either_value_of_a_relation_will_do() {
    let mut b = Builder::new("M");
    let (x, y) = (b.real("x"), b.real("y"));
    b.equation(b.var(y), saltus_flat::build::if_then_else(greater(b.var(x), real(1.0)), real(1.0), real(0.0)));
    let (mut world, plan) = world(b, &[1.0 + 1e-9, 0.0]);
    world.rules = Rules::default();
    let found = crate::residuals::audit(&plan.always[0], &mut world);
    assert_eq!(found.outcomes[0].found.as_ref().map(|r| r.relative), Ok(0.0));
}
