//! Which configuration follows at an instant: a complementarity problem over the positions of the switches.
//!
//! In: the positions that an event asks for. Out: a configuration that agrees with its own switches, entered; or what each that was
//! tried disagrees with.
//!
//! Each configuration says which positions it would rather have: by the sign of an impulse, else by its relations. That is followed. Where it
//! leads back to a configuration that was tried, the switches that have moved on the way are tried in all positions, those that differ
//! least from the positions before first. A relation at its threshold that the motion does not leave agrees with both of its values.

use std::collections::{BTreeMap, BTreeSet};

use saltus_program::{Held, Key, ModelFunctions, Moment, Relation};

use super::Simulation;
use super::configurations::Left;
use crate::constants::{ENTRY_BAND, ENTRY_LOOKS, ENTRY_NOISE, MOST_CHANGES, MOST_FREE_RELATIONS, MOST_TRIED};
use crate::error::Failure;
use crate::event;
use crate::record::Change;
use crate::witness::Jump;

/// What happened on the way to a configuration.
#[derive(Default)]
pub(super) struct Entered {
    /// Texts of the states of machines that were entered last.
    pub states: Vec<String>,
    pub impulses: Vec<(String, f64)>,
    pub jumps: Vec<Change>,
    /// For a witness.
    pub shown: Vec<Jump>,
}

/// How a configuration was found when it was entered.
enum Attempt {
    Agrees {
        jumped: bool,
    },
    /// Impulses ask for these positions.
    Impulses(Key),
    /// Its relations ask for these positions.
    Disagrees {
        asked: Key,
        jumped: bool,
    },
    Fails(Failure),
}

/// Configurations that were tried from the same values.
pub(super) struct Search {
    from: Key,
    tried: Vec<(Key, String)>,
    /// Those that have been entered on the way here.
    passed: Vec<(Key, String)>,
    /// Switches that have moved.
    moved: BTreeSet<String>,
    /// Positions that nothing that happens at the instant moves, as those of switches that time opens.
    given: BTreeMap<String, bool>,
    failure: Option<Failure>,
}

impl Search {
    pub fn new(from: Key) -> Self {
        Search {
            from,
            tried: Vec::new(),
            passed: Vec::new(),
            moved: BTreeSet::new(),
            given: BTreeMap::new(),
            failure: None,
        }
    }

    /// A search over all positions of those switches that are not in a key.
    pub fn among(from: Key, others: &Key) -> Self {
        let moved = from.0.keys().filter(|text| !others.0.contains_key(*text)).cloned().collect();
        Search { moved, ..Search::new(from) }
    }

    /// Goes on from a configuration in which something has happened.
    fn go_on_from(&mut self, from: Key) {
        self.passed.append(&mut self.tried);
        (self.from, self.failure) = (from, None);
        self.moved.clear();
    }

    /// These positions are not tried in another way.
    pub fn keep(&mut self, given: impl Iterator<Item = (String, bool)>) {
        self.given.extend(given);
    }

    /// A configuration that cannot be entered.
    pub fn fails(&mut self, key: &Key, failure: Failure) {
        self.tried.push((key.clone(), failure.kind.to_string()));
        self.failure.get_or_insert(failure);
    }

    /// A configuration that asks for others.
    pub fn disagrees(&mut self, key: &Key, asked: &Key) {
        let differs = |(text, is_on): (&String, &bool)| (key.0.get(text) != Some(is_on)).then(|| text.clone());
        let others: Vec<String> = asked.0.iter().filter_map(differs).collect();
        self.tried.push((key.clone(), format!("{} disagrees", others.join(", "))));
    }

    fn is_tried(&self, key: &Key) -> bool {
        self.tried.iter().any(|(tried, _)| tried == key)
    }

    /// The next one to be tried: what is asked for, or one of all positions of the switches that have moved.
    pub fn next(&mut self, asked: Option<Key>, is_exhaustive: bool) -> Option<Key> {
        if let Some(asked) = asked {
            for key in [&asked].into_iter().chain(self.tried.last().map(|(key, _)| key)) {
                let differs = |(text, is_on): (&String, &bool)| self.from.0.get(text) != Some(is_on);
                self.moved.extend(key.0.iter().filter(|(text, is_on)| differs((text, is_on))).map(|(t, _)| t.clone()));
            }
            if !self.is_tried(&asked) && self.tried.len() < MOST_CHANGES {
                return Some(asked);
            }
        }
        if !is_exhaustive || self.tried.len() >= MOST_TRIED {
            return None;
        }
        let last = self.tried.last().map_or(&self.from, |(key, _)| key);
        let known = |text: &String| self.given.get(text).or(self.from.0.get(text)).copied();
        let base: Key = Key(last.0.iter().map(|(t, on)| (t.clone(), known(t).unwrap_or(*on))).collect());
        // Those that have moved alone, then with others: one that takes over from another has to push it away.
        let is_open = |text: &&String| !self.given.contains_key(*text);
        let moved: Vec<&String> = self.moved.iter().filter(is_open).collect();
        let others = base.0.keys().filter(is_open).filter(|text| !self.moved.contains(*text));
        let all: Vec<&String> = moved.iter().copied().chain(others).take(MOST_FREE_RELATIONS).collect();
        let flipped = |mask: u32| {
            let mut key = base.clone();
            for (_, text) in all.iter().enumerate().filter(|(i, _)| mask & (1 << i) != 0) {
                key.0.entry((*text).clone()).and_modify(|is_on| *is_on = !*is_on);
            }
            key
        };
        let moved = by_fewest(moved.len()).into_iter();
        moved.chain(by_fewest(all.len())).map(flipped).find(|key| !self.is_tried(key))
    }

    /// Each that was tried, with what is wrong with it.
    pub fn story(&self) -> String {
        let texts: Vec<String> =
            self.passed.iter().chain(&self.tried).map(|(key, why)| format!("({key}: {why})")).collect();
        texts.join(" → ")
    }
}

/// All subsets of so many, the small ones first.
fn by_fewest(n: usize) -> Vec<u32> {
    let mut masks: Vec<u32> = (0..1 << n.min(MOST_FREE_RELATIONS)).collect();
    masks.sort_by_key(|mask| mask.count_ones());
    masks
}

impl Simulation {
    /// Enters the configuration that follows where the one that is left, with the event settled in it, asks for other positions.
    pub(super) fn find_configuration(&mut self, t: f64, asked: Key, left: &Left) -> Result<Entered, Failure> {
        let states = self.entered(&asked);
        match self.try_configuration(t, &asked, left, &states)? {
            Attempt::Agrees { jumped } => {
                let mut found = Entered { states, ..Entered::default() };
                self.note_jumps(jumped, left, &mut found);
                Ok(found)
            }
            attempt => self.search_configuration(t, asked, attempt, left),
        }
    }

    /// Goes on where the configuration that was asked for first does not agree.
    fn search_configuration(
        &mut self,
        t: f64,
        mut key: Key,
        mut attempt: Attempt,
        left: &Left,
    ) -> Result<Entered, Failure> {
        let mut found = Entered::default();
        let mut left = left.clone();
        let mut passed = vec![(left.key(), left.discrete_values())];
        let mut remembered = left.remembered_values();
        let mut search = Search::new(left.key());
        search.keep(left.given_positions());
        loop {
            let has_machines = self.program.configuration.as_ref().is_some_and(|c| !c.regions.is_empty());
            let mut next = None;
            let asked = match attempt {
                Attempt::Agrees { jumped } => {
                    self.note_jumps(jumped, &left, &mut found);
                    return Ok(found);
                }
                Attempt::Impulses(asked) => {
                    search.disagrees(&key, &asked);
                    Some(asked)
                }
                Attempt::Disagrees { asked, jumped } => {
                    search.disagrees(&key, &asked);
                    let now = self.left_here();
                    search.keep(now.given_positions());
                    let values = (now.key(), now.discrete_values());
                    // Nothing has happened with a switch in a position that it does not have.
                    let is_possible = now.given_positions().all(|(text, is_on)| values.0.0.get(&text) == Some(&is_on));
                    let is_further = is_possible && (jumped || has_machines || now.remembered_values() != remembered);
                    // Left twice with the same discrete variables, it would be left without end.
                    let is_circle = passed.contains(&values) || passed.len() > MOST_CHANGES;
                    if is_further && !is_circle {
                        self.note_jumps(jumped, &left, &mut found);
                        passed.push(values);
                        remembered = now.remembered_values();
                        left = now;
                        search.go_on_from(left.key());
                        next = Some(asked);
                        None
                    } else {
                        Some(asked)
                    }
                }
                Attempt::Fails(failure) => {
                    search.fails(&key, failure);
                    None
                }
            };
            match next.or_else(|| search.next(asked, !has_machines)) {
                Some(next) => key = next,
                None => return Err(self.no_configuration(t, search)),
            }
            found.states = self.entered(&key);
            attempt = self.try_configuration(t, &key, &left, &found.states)?;
        }
    }

    fn try_configuration(&mut self, t: f64, key: &Key, left: &Left, states: &[String]) -> Result<Attempt, Failure> {
        if let Err(failure) = self.take_program_of(t, key) {
            return Ok(Attempt::Fails(failure));
        }
        self.known.jumped_to = None;
        self.carry_over(t, left)?;
        self.begin_entry(t, states);
        let jumped = if states.is_empty() { self.find_jumps(t, left) } else { self.arrive(t, states, left) };
        let jumped = match jumped {
            Ok(jumped) => jumped,
            Err(failure) => return Ok(Attempt::Fails(failure)),
        };
        if states.is_empty()
            && jumped
            && let Some(asked) = self.key_by_impulses()
        {
            return Ok(Attempt::Impulses(asked));
        }
        if states.is_empty() {
            self.give_doubt(t)?;
            if let Err(failure) = self.settle_entry(t) {
                return Ok(Attempt::Fails(failure));
            }
        }
        self.end_entry();
        Ok(match self.other_key() {
            None => Attempt::Agrees { jumped },
            Some(asked) => Attempt::Disagrees { asked, jumped },
        })
    }

    fn note_jumps(&mut self, jumped: bool, left: &Left, found: &mut Entered) {
        // What has not jumped by more than rounding has nothing to balance.
        found.shown.extend(self.last_jump(left).filter(|_| jumped));
        if jumped {
            found.impulses.extend(self.impulses());
            found.jumps.extend(self.jumps(left));
        }
    }

    /// Why no configuration was found.
    pub(super) fn no_configuration(&self, t: f64, mut search: Search) -> Failure {
        let asked = search.passed.first().or(search.tried.first());
        let is_unmade = |failure: &Failure| asked.is_some_and(|(_, why)| *why == failure.kind.to_string());
        match search.failure.take() {
            // It was the only one, or the one that the event asks for.
            Some(failure) if search.moved.len() <= 1 || is_unmade(&failure) => failure,
            _ => self.alternates(t, &search.story()),
        }
    }

    /// The event in a configuration that has just been entered. Relations at their thresholds are decided by where the motion in this
    /// configuration leads; those that it does not leave are as the configuration needs them, if that is possible.
    pub(super) fn settle_entry(&mut self, t: f64) -> Result<(), Failure> {
        event::eval_continuous(&mut self.model, t)?;
        // What relations were belongs to the configuration before.
        self.model.show(Moment::Sliding);
        let program = self.program.clone();
        let is_near = |r: &&Relation| self.model.get(r.crossing).abs() <= ENTRY_BAND * self.model.get(r.scale);
        let near: Vec<&Relation> = program.events.relations.values().filter(is_near).collect();
        if near.is_empty() {
            event::settle(&self.program, &mut self.model, &self.options, t)?;
            return Ok(());
        }
        let now = self.model.snapshot();
        let decided = self.decided_by_motion(t, &near, &now)?;
        let n_free = decided.iter().filter(|d| d.is_none()).count();
        let choices = by_fewest(n_free);
        // What they are then cannot be seen from the numbers at this point: a witness is told that it does not know.
        for mask in &choices {
            if self.settle_with(t, &near, &decided, *mask).is_ok() && self.other_key().is_none() {
                self.model.show(Moment::Sliding);
                return Ok(());
            }
            self.model.restore(&now);
        }
        if self.settle_with(t, &near, &decided, 0).is_ok() {
            self.model.show(Moment::Sliding);
            return Ok(());
        }
        // What is held contradicts the rest.
        self.model.restore(&now);
        event::settle(&self.program, &mut self.model, &self.options, t)?;
        Ok(())
    }

    /// Settles with these relations at the values that the motion gives them; others as they are, or the opposite where the mask says so.
    fn settle_with(&mut self, t: f64, near: &[&Relation], decided: &[Option<bool>], mask: u32) -> Result<(), Failure> {
        let mut n_free = 0;
        let mut held = Vec::with_capacity(near.len());
        for (relation, decided) in near.iter().zip(decided) {
            let is_flipped = decided.is_none() && n_free < MOST_FREE_RELATIONS && mask & (1 << n_free) != 0;
            n_free += usize::from(decided.is_none());
            let value = decided.unwrap_or((self.model.get(relation.memory) != 0.0) ^ is_flipped);
            let band = 2.0 * ENTRY_BAND * self.model.get(relation.scale);
            held.push(Held { memory: relation.memory, value, band });
        }
        self.model.hold(&held);
        let settled = event::settle(&self.program, &mut self.model, &self.options, t);
        self.model.hold(&[]);
        settled.map(|_| ())
    }

    /// What relations are when the motion in this configuration has left their thresholds; none where it stays. A contact may be of higher
    /// order: then it is followed further. Equations that hold at this instant only, as those of a current that passes through zero and has no
    /// way to flow, are no configuration to go on in.
    fn decided_by_motion(&mut self, t: f64, near: &[&Relation], now: &[f64]) -> Result<Vec<Option<bool>>, Failure> {
        let mut here = vec![0.0; self.program.states.len()];
        self.model.get_states(&mut here);
        let mut there = here.clone();
        let longest = 0.5 * (self.model.next_time_event(t) - t);
        let mut decided = vec![None; near.len()];
        // Where other conditions may take unknowns out of equations, these may be in the wrong positions.
        let is_fixed = self.program.configuration.as_ref().is_some_and(|c| c.candidates.is_empty());
        for ahead in ENTRY_LOOKS.map(|part| (part * self.options.time_span()).min(longest)) {
            self.model.restore(now);
            match self.move_ahead(t, ahead, &here, &mut there) {
                Err(failure) if is_fixed && failure.is_unsolved() => {
                    self.model.restore(now);
                    return Err(failure);
                }
                Err(_) => break,
                Ok(()) => {}
            }
            for (relation, decided) in near.iter().zip(&mut decided) {
                let z = self.model.get(relation.crossing);
                if decided.is_none() && z.abs() > ENTRY_NOISE * self.model.get(relation.scale) {
                    *decided = Some(relation.op.holds(z));
                }
            }
            if decided.iter().all(Option::is_some) {
                break;
            }
        }
        self.model.restore(now);
        self.model.set_continuous(t, &here);
        Ok(decided)
    }

    /// Follows the motion from the present point by the midpoint rule.
    fn move_ahead(&mut self, t: f64, ahead: f64, here: &[f64], there: &mut [f64]) -> Result<(), Failure> {
        let mut slopes = vec![0.0; here.len()];
        for part in [0.5, 1.0] {
            self.model.get_derivatives(&mut slopes);
            for (to, (x, dx)) in there.iter_mut().zip(here.iter().zip(&slopes)) {
                *to = x + part * ahead * dx;
            }
            self.model.set_continuous(t + part * ahead, there);
            event::eval_continuous(&mut self.model, t + part * ahead)?;
        }
        Ok(())
    }
}
