//! The regions around a point at which thresholds meet.
//!
//! In: thresholds that meet at the present point. Out: the memory of each region, which is that of an event there: the states are moved into it by
//! a little and the event is settled. Relations whose thresholds pass through the same point keep their values meanwhile. Thresholds
//! that do not influence each other are groups of their own, which need few regions.

use saltus_program::{Held, ModelFunctions, Relation, RelationId};

use super::Simulation;
use crate::constants::{ADDS_UP, MOST_SURFACES, SEPARATED};
use crate::event;
use crate::groups::Group;
use crate::sliding::{Check, Slide, derivatives_and_crossings};
use crate::surfaces::Meeting;

/// What is known about the regions around a point.
pub(super) enum Around {
    Known(Vec<Group>, Vec<Check>),
    Unknown,
    /// More thresholds influence each other than can be combined.
    TooMany,
}

/// Combinations of groups in which it is compared whether their contributions add up.
const N_CHECKS: u32 = 6;

impl Simulation {
    /// At the present point an event has been settled.
    pub(super) fn regions_around(&mut self, t: f64, meeting: &Meeting, nominal: &[f64]) -> Around {
        let now = self.model.snapshot();
        self.model.checkpoint();
        let found = self.groups_around(&Place { t, now: &now, meeting, nominal });
        self.model.rollback();
        self.model.restore(&now);
        found
    }

    fn groups_around(&mut self, place: &Place) -> Around {
        let k = place.meeting.relations.len();
        let is_dependent = !place.meeting.dependence.is_none();
        if k > SEPARATED && !is_dependent {
            match self.separate(place) {
                Around::Unknown => {}
                found => return found,
            }
        }
        if k > MOST_SURFACES {
            return Around::TooMany;
        }
        let all: Vec<usize> = (0..k).collect();
        let Some(memories) = self.memories_of(place, &all) else { return Around::Unknown };
        let dependence = is_dependent.then(|| place.meeting.dependence.clone());
        Around::Known(vec![Group::new(all, memories, dependence)], Vec::new())
    }

    /// Groups of thresholds that influence each other; unknown if what they contribute does not add up.
    fn separate(&mut self, place: &Place) -> Around {
        let relations = &place.meeting.relations;
        let k = relations.len();
        let singles = (0..k).map(|i| Some(Group::new(vec![i], self.memories_of(place, &[i])?, None)));
        let Some(singles) = singles.collect::<Option<Vec<Group>>>() else { return Around::Unknown };
        let Some(members) = self.influences(place, &singles) else { return Around::Unknown };
        if members.iter().any(|group| group.len() > MOST_SURFACES) {
            return Around::TooMany;
        }
        if members.len() == 1 {
            return Around::Unknown;
        }
        let mut groups = Vec::new();
        for group in members {
            match group.as_slice() {
                [single] => groups.push(singles[*single].clone()),
                _ => match self.memories_of(place, &group) {
                    Some(memories) => groups.push(Group::new(group, memories, None)),
                    None => return Around::Unknown,
                },
            }
        }
        let checks = (0..N_CHECKS).map(|n| {
            let chosen: Vec<bool> = (0..groups.len()).map(|g| n == 0 || is_chosen(g, n)).collect();
            let is_positive = |i: usize| groups.iter().zip(&chosen).any(|(g, &c)| c && g.members.contains(&i));
            Some(Check { memory: self.memory_in(place, &is_positive)?, chosen: chosen.clone() })
        });
        let Some(checks) = checks.collect::<Option<Vec<Check>>>() else { return Around::Unknown };
        let slide = Slide::new(&self.program, relations.clone(), groups.clone(), checks.clone());
        let Some(mut slide) = slide else { return Around::Unknown };
        self.model.restore(place.now);
        let is_ok = slide.eval_regions(&mut self.model).is_ok();
        self.model.restore(place.now);
        let add_up = is_ok && (0..checks.len()).all(|_| slide.adds_up(&mut self.model));
        if add_up { Around::Known(groups, checks) } else { Around::Unknown }
    }

    /// Which thresholds influence each other: the relation of one changes the rate of the other.
    fn influences(&mut self, place: &Place, singles: &[Group]) -> Option<Vec<Vec<usize>>> {
        let relations = &place.meeting.relations;
        let k = relations.len();
        let mut probe = Slide::new(&self.program, relations.clone(), singles.to_vec(), Vec::new())?;
        let mut rates_in = |simulation: &mut Simulation, memory: &[f64], positive: Option<usize>| {
            simulation.model.restore(place.now);
            let mut memory = memory.to_vec();
            probe.rates_in(&mut simulation.model, &mut memory, &|i| Some(i) == positive).map(<[f64]>::to_vec)
        };
        let base = rates_in(self, &singles.first()?.memories[0], None)?;
        let flipped: Option<Vec<Vec<f64>>> =
            singles.iter().enumerate().map(|(i, single)| rates_in(self, &single.memories[1], Some(i))).collect();
        let flipped = flipped?;
        let fastest = |j: usize| flipped.iter().map(|rates| rates[j].abs()).fold(base[j].abs(), f64::max);
        let fastest: Vec<f64> = (0..k).map(fastest).collect();
        let mut group: Vec<usize> = (0..k).collect();
        for i in 0..k {
            for j in 0..k {
                if i != j && (flipped[i][j] - base[j]).abs() > ADDS_UP * fastest[j] {
                    let (old, new) = (group[i].max(group[j]), group[i].min(group[j]));
                    group.iter_mut().filter(|g| **g == old).for_each(|g| *g = new);
                }
            }
        }
        let members = |g: usize| (0..k).filter(|&i| group[i] == g).collect::<Vec<usize>>();
        Some((0..k).map(members).filter(|members| !members.is_empty()).collect())
    }

    /// The memory in each region of some thresholds, the functions of the others being negative.
    fn memories_of(&mut self, place: &Place, members: &[usize]) -> Option<Vec<Vec<f64>>> {
        let is_positive =
            |region: usize, i: usize| members.iter().position(|&m| m == i).is_some_and(|j| region >> j & 1 == 1);
        (0..1usize << members.len()).map(|region| self.memory_in(place, &|i| is_positive(region, i))).collect()
    }

    /// The memory after an event a little inside of a region, with the states of the present point. `None` if a state jumps there.
    fn memory_in(&mut self, place: &Place, is_positive: &dyn Fn(usize) -> bool) -> Option<Vec<f64>> {
        let &Place { t, now, meeting, nominal } = place;
        self.model.restore(now);
        let n = nominal.len();
        let (mut here, mut settled) = (vec![0.0; n], vec![0.0; n]);
        self.model.get_states(&mut here);
        let basis = &meeting.dependence.basis;
        let program = self.program.clone();
        let of = |id: &RelationId| program.events.relations.get(*id);
        let z = |&i: &usize| of(&meeting.relations[i]).map_or(0.0, |r| self.model.get(r.crossing));
        let z: Vec<f64> = basis.iter().map(z).collect();
        let mut there = here.clone();
        meeting.surfaces.move_into(|b| is_positive(basis[b]), &z, nominal, &mut there);
        self.model.set_continuous(t, &there);
        let held = self.held_in(meeting, is_positive)?;
        self.model.hold(&held);
        let event = event::settle(&self.program, &mut self.model, &self.options, t);
        self.model.hold(&[]);
        self.model.get_states(&mut settled);
        let is_inside = meeting.relations.iter().enumerate().all(|(i, id)| {
            let is_above = |r: &Relation| r.op.is_true_below() != (self.model.get(r.memory) != 0.0);
            of(id).is_some_and(|r| is_above(r) == is_positive(i))
        });
        if event.ok()?.termination.is_some() || settled != there || !is_inside {
            return None;
        }
        self.model.set_continuous(t, &here);
        Some(self.model.snapshot())
    }

    /// Relations that keep their values although the states have been moved: those that the movement alone would change keep the ones they
    /// have, those that are determined by others have the ones of the region.
    fn held_in(&mut self, meeting: &Meeting, is_positive: &dyn Fn(usize) -> bool) -> Option<Vec<Held>> {
        let before = self.model.snapshot();
        let status = derivatives_and_crossings(&mut self.model);
        let program = self.program.clone();
        let band = |r: &Relation| 2.0 * self.model.get(r.crossing).abs().max(ADDS_UP * self.model.get(r.scale));
        let is_own = |id: &RelationId| meeting.relations.contains(id) || meeting.same.contains(id);
        let others = program.events.relations.iter().filter(|(id, _)| !is_own(id)).filter_map(|(_, r)| {
            let value = self.model.get(r.memory) != 0.0;
            let is_changed = r.op.holds(self.model.get(r.crossing)) != value;
            is_changed.then(|| Held { memory: r.memory, value, band: band(r) })
        });
        let dependent = (0..meeting.relations.len()).filter(|i| !meeting.dependence.basis.contains(i));
        let own = dependent.map(|i| (meeting.relations[i], is_positive(i)));
        let copies = meeting.copies.iter().map(|&(id, i, is_same)| (id, is_positive(i) == is_same));
        let determined = own.chain(copies).filter_map(|(id, is_above)| {
            let r = program.events.relations.get(id)?;
            Some(Held { memory: r.memory, value: r.op.is_true_below() != is_above, band: band(r) })
        });
        let held = others.chain(determined).collect();
        self.model.restore(&before);
        status.is_ok().then_some(held)
    }
}

/// The present point.
struct Place<'a> {
    t: f64,
    now: &'a [f64],
    meeting: &'a Meeting,
    nominal: &'a [f64],
}

/// About half of the groups, others for each `n`.
fn is_chosen(group: usize, n: u32) -> bool {
    let mixed = (group as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(7 * n);
    mixed.count_ones() & 1 == 0 || mixed >> 61 == u64::from(n)
}
