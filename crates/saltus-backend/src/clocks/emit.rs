//! Turn sorted base-partitions into sections and tables of the program.

use saltus_program::{Activity, BasePartition, Section, SlotId, SlotKind, SlotType, SubClock};

use super::partition::{Base, SubSlots};
use super::solve::ClockedOrder;
use crate::blocks::Step;
use crate::system::{Assignment, System};

/// The slots in which the driver counts the ticks of a sub-clock. Other configurations of the model find them by the name of one of its
/// variables.
pub fn declare_sub_slots(system: &mut System, variable: &str) -> SubSlots {
    let mut flag = |name: &str, ty| system.add_slot(format!("{name} of {variable}"), SlotKind::Flag, ty);
    SubSlots {
        tick: flag("ticks of sub-clock", SlotType::Integer),
        next: flag("next tick of sub-clock", SlotType::Real),
        last: flag("last tick of sub-clock", SlotType::Real),
        interval_value: flag("interval of sub-clock", SlotType::Real),
        first_tick: flag("first tick of sub-clock", SlotType::Boolean),
    }
}

/// Before their first tick clocked variables have their start values, also as previous values.
pub fn start_values(system: &mut System, bases: &[(Base, ClockedOrder)]) -> Vec<Step> {
    let mut steps = Vec::new();
    for (base, order) in bases {
        let mut assign = |slot: SlotId, variable: SlotId, system: &mut System| {
            let (node, span) = match system.starts.get(&variable) {
                Some(start) => (start.value, start.span),
                None => (system.dag.constant(system.slots[variable].initial), base.span),
            };
            steps.push(Step::Assign(Assignment { slot, node, span }));
        };
        for &slot in base.sub_of.keys().filter(|s| system.starts.contains_key(s)).collect::<Vec<_>>() {
            assign(slot, slot, system);
        }
        for (&variable, &previous) in &order.previous {
            assign(previous, variable, system);
        }
    }
    steps
}

/// The table of a base-partition; `section` turns steps into a section.
pub fn base_partition(
    system: &mut System,
    base: &Base,
    order: &ClockedOrder,
    sections: &mut Vec<Section>,
    section: &mut dyn FnMut(&mut System, &[Step]) -> Section,
) -> BasePartition {
    let mut activities = |system: &mut System, steps: &[(usize, Step)]| {
        let mut activities = Vec::new();
        for run in steps.chunk_by(|a, b| a.0 == b.0) {
            let steps: Vec<Step> = run.iter().map(|s| s.1.clone()).collect();
            activities.push(Activity { sub_clock: run[0].0, section: sections.len() as u32 });
            sections.push(section(system, &steps));
        }
        activities
    };
    let first_activities = activities(system, &order.first);
    let activities = activities(system, &order.steps);
    let sub_clocks = base
        .subs
        .iter()
        .enumerate()
        .map(|(k, sub)| SubClock {
            shift: sub.ticks.shift,
            interval: sub.ticks.interval,
            tick: sub.slots.tick,
            next: sub.slots.next,
            last: sub.slots.last,
            interval_value: sub.slots.interval_value,
            first_tick: sub.slots.first_tick,
            previous: order
                .previous
                .iter()
                .filter(|(variable, _)| order.sub_of.get(variable) == Some(&k))
                .map(|(&variable, &previous)| (variable, previous))
                .collect(),
            text: sub.text.clone(),
            span: sub.span,
        })
        .collect();
    let first = base.subs.first().map_or_else(String::new, |sub| system.name(sub.slots.tick).into_owned());
    let mut flag = |name: &str, ty| system.add_slot(format!("{name}, {first}"), SlotKind::Flag, ty);
    BasePartition {
        clock: base.clock,
        sub_clocks,
        activities,
        first_activities,
        base_tick: flag("base tick", SlotType::Integer),
        base_time: flag("base time", SlotType::Real),
        base_interval: flag("base interval", SlotType::Real),
        span: base.span,
    }
}
